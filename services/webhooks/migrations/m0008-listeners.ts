import { Migration } from '@mikro-orm/migrations';

export class Listeners extends Migration {
  override up(): void {
    // `ended_at` is null while it takes events. `dropped` counts those that it has lost.
    this.addSql(`
      create table listeners (
        workspace_id text not null,
        id text not null,
        event_types text[] not null,
        dropped integer not null default 0,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        ended_at timestamptz,
        primary key (workspace_id, id)
      )`);
  }
}
