import { Migration } from '@mikro-orm/migrations';

export class SignInCodes extends Migration {
  override up(): void {
    this.addSql(`
      create table sign_in_codes (
        email text primary key,
        hash bytea not null,
        tries int not null default 0,
        expires_at timestamptz not null
      )`);
    // Each new code deletes the expired ones.
    this.addSql('create index sign_in_codes_expired on sign_in_codes (expires_at)');
  }
}
