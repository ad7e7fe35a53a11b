import { Migration } from '@mikro-orm/migrations';

export class ReceiverPauses extends Migration {
  override up(): void {
    // Groups of receivers that an owner has paused. A row whose end has passed means nothing.
    this.addSql(`
      create table receiver_pauses (
        workspace_id text not null,
        integration_id text not null,
        receiver text not null,
        ends_at timestamptz not null,
        paused_at timestamptz not null,
        primary key (workspace_id, integration_id, receiver)
      )`);
  }
}
