import { Migration } from '@mikro-orm/migrations';

export class ConsentTimes extends Migration {
  override up(): void {
    // When contacts last spoke of the recipient; null where that is `created_at`. An older deletion
    // leaves the message alone.
    this.addSql('alter table messages add column consent_at timestamptz');
    // The newest request that got no mail of its own, since there had just been one; null for none.
    this.addSql('alter table confirmations add column asked_at timestamptz');
  }
}
