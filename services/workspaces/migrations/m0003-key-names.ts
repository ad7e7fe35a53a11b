import { Migration } from '@mikro-orm/migrations';

export class KeyNames extends Migration {
  override up(): void {
    // Names of API keys are unique in a workspace, addresses of people everywhere.
    this.addSql('alter table users drop constraint users_email_key');
    // For sign-in by address.
    this.addSql("create unique index users_person on users (email) where type = 'user'");
  }
}
