import { Migration } from '@mikro-orm/migrations';

export class Expiry extends Migration {
  override up(): void {
    // A message that the mail server has not accepted by then is not sent any more; null for none.
    this.addSql('alter table message_requests add column expires_at timestamptz');
    // The default of a notification's messages; null for none.
    this.addSql('alter table notifications add column ttl_seconds integer');
  }
}
