import { Migration } from '@mikro-orm/migrations';
import { interestVersions } from '#lib/events/interests.ts';

export class InterestVersions extends Migration {
  override up(): void {
    this.addSql(interestVersions);
  }
}
