import { Migration } from '@mikro-orm/migrations';

export class DomainTests extends Migration {
  override up(): void {
    // Test mails of sending domains: at most 100 of a workspace.
    this.addSql(`
      create table domain_tests (
        workspace_id text not null,
        id uuid not null,
        domain text not null,
        integration_id text not null,
        sender text not null,
        message_id uuid not null,
        -- In a header of the mail alone, in hexadecimal digits.
        mark text not null,
        created_at timestamptz not null,
        -- Why it was not sent.
        error text,
        arrived_at timestamptz,
        -- What the verifier says, as the API shows it.
        result jsonb,
        primary key (workspace_id, id)
      )`);
  }
}
