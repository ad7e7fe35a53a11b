import { Migration } from '@mikro-orm/migrations';
import { upgradeJobs } from '#lib/jobs/upgrade-jobs.ts';

export class MoreInterests extends Migration {
  override up(): void {
    // Contacts makes more types of events, which subscriptions may list already. A process pushes
    // all interests when it starts; by then, one from before that still runs may leave the new
    // types out.
    this.addSql(
      upgradeJobs('webhooks', [
        { task: 'pushInterests', key: 'interests of more types', after: '1 minute' },
        { task: 'pushInterests', key: 'interests of more types again', after: '1 hour' },
      ]),
    );
  }
}
