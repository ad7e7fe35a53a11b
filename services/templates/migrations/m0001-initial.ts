import { Migration } from '@mikro-orm/migrations';
import { idempotencyTable } from '#lib/rpc/server/idempotency.ts';

export class Initial extends Migration {
  override up(): void {
    this.addSql(`
      create table templates (
        workspace_id text not null,
        id text not null,
        version integer not null,
        name text not null,
        channel text not null,
        category text not null,
        email jsonb,
        web jsonb,
        template_macro_id text not null,
        integration_id text not null,
        test_data jsonb,
        settings jsonb,
        translations jsonb not null,
        compiled jsonb,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        deleted_at timestamptz,
        primary key (workspace_id, id, version)
      )`);
    this.addSql(idempotencyTable);
  }
}
