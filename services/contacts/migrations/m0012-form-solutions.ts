import { Migration } from '@mikro-orm/migrations';

export class FormSolutions extends Migration {
  override up(): void {
    // Used solutions of challenges of forms. `form` is a MAC of the address and the lists.
    this.addSql(`
      create table form_solutions (
        workspace_id text not null,
        nonce bytea not null,
        form bytea not null,
        taken_at timestamptz not null,
        expires_at timestamptz not null,
        primary key (workspace_id, nonce)
      )`);
    this.addSql('create index form_solutions_expired on form_solutions (expires_at)');
  }
}
