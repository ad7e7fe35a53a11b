import { Migration } from '@mikro-orm/migrations';
import { attemptsTable } from '#lib/postgres/attempts.ts';

export class EmailHmacKey extends Migration {
  override up(): void {
    // Sealed. A workspace gets its key when it is first asked for.
    this.addSql('alter table workspaces add sealed_hmac_key text');
    // Attempts are counted the same way everywhere.
    this.addSql('drop table sign_in_attempts');
    this.addSql(attemptsTable);
  }
}
