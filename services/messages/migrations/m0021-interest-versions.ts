import { Migration } from '@mikro-orm/migrations';
import { interestVersions } from '#lib/jobs/interests.ts';

export class InterestVersions extends Migration {
  override up(): void {
    this.addSql(interestVersions);
  }
}
