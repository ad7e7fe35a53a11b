import { Migration } from '@mikro-orm/migrations';

/**
 * Takes the place of `sign_in_codes`, which processes of 0.2.0 write to; the release after it drops
 * that one.
 */
export class MailedCodes extends Migration {
  override up(): void {
    this.addSql(`
      create table mailed_codes (
        email text not null,
        network bytea not null,
        hash bytea not null,
        tries int not null default 0,
        other_tries int not null default 0,
        expires_at timestamptz not null,
        primary key (email, network)
      )`);
    // Each new code deletes the expired ones.
    this.addSql('create index mailed_codes_expired on mailed_codes (expires_at)');
  }
}
