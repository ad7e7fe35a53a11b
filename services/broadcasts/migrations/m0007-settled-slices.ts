import { Migration } from '@mikro-orm/migrations';

export class SettledSlices extends Migration {
  override up(): void {
    // When the record of messages is to be asked what open calls did (null: everything that was
    // started is counted), and the counts of recipients after `answered` that the slice's counts
    // contain.
    this.addSql('alter table slices add column settle_at timestamptz, add column beyond jsonb');
    // The watch: slices that nobody has settled in time.
    this.addSql('create index slices_to_settle on slices (settle_at) where settle_at is not null');
  }
}
