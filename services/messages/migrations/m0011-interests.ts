import { Migration } from '@mikro-orm/migrations';
import { interestsTable } from '#lib/events/interests.ts';

export class Interests extends Migration {
  override up(): void {
    this.addSql(interestsTable);
  }
}
