import { Migration } from '@mikro-orm/migrations';

export class Translations extends Migration {
  override up(): void {
    this.addSql(
      "alter table templates add column compiled_translations jsonb not null default '{}'",
    );
  }
}
