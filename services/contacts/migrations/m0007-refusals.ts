import { Migration } from '@mikro-orm/migrations';

export class Refusals extends Migration {
  override up(): void {
    // Refusals of deleted contacts, by a keyed hash of their address: lists that they left, or that
    // bounced or complained; the list id is empty for all mail. A contact that comes back has still
    // refused them.
    this.addSql(`
      create table refusals (
        workspace_id text not null,
        address bytea not null,
        list_id text not null,
        status text not null,
        refused_at timestamptz not null,
        primary key (workspace_id, address, list_id)
      )`);
    // Opt-outs of contacts that were deleted before are found by their address, and stay so until
    // it comes back and is deleted again.
    this.addSql('create table refusal_keys (workspace_id text primary key, key bytea not null)');
  }
}
