import { Migration } from '@mikro-orm/migrations';

export class Tests extends Migration {
  override up(): void {
    this.addSql(`
      alter table broadcasts
        add column test_phase_recipient_count integer not null default 0,
        add column winner_phase_recipient_count integer not null default 0,
        add column winning_template text,
        add column winner_decided_by text,
        add column test_sent_at timestamptz,
        add column winner_sent_at timestamptz`);
    // The variation that a slice of the sample gets; null for the rest.
    this.addSql('alter table slices add column arm integer');
  }
}
