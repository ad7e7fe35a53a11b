import { Migration } from '@mikro-orm/migrations';
import { pushAllOnce } from '#lib/jobs/template-uses.ts';

export class TemplateUses extends Migration {
  override up(): void {
    this.addSql(pushAllOnce('broadcasts'));
  }
}
