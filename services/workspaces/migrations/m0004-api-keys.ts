import { Migration } from '@mikro-orm/migrations';

export class APIKeys extends Migration {
  override up(): void {
    // Only of API keys. Keys from before have no expiry here: their tokens end by themselves, after
    // ten years.
    this.addSql(`
      alter table users
        add expires_at timestamptz,
        add allowed_addresses text[] not null default '{}',
        add last_used_at timestamptz`);
    // A key without rows has one token, from before there were ids: its id is empty, and it is
    // valid. Processes of before still make such keys.
    this.addSql(`
      create table api_key_tokens (
        user_id uuid not null references users on delete cascade,
        id text not null,
        valid_until timestamptz,
        primary key (user_id, id)
      )`);
  }
}
