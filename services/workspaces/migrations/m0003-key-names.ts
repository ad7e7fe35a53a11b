import { Migration } from '@mikro-orm/migrations';

export class KeyNames extends Migration {
  override up(): void {
    // An API key's name is its workspace's own; people are who they are everywhere.
    this.addSql('alter table users drop constraint users_email_key');
    // Signing in looks a person up by address.
    this.addSql("create unique index users_person on users (email) where type = 'user'");
  }
}
