import { Migration } from '@mikro-orm/migrations';
import { upgradeJobs } from '#lib/jobs/upgrade-jobs.ts';

export class Addresses extends Migration {
  override up(): void {
    // The deliveries that are about an address: contacts.export, and erasing it. The ids are in the
    // order of time.
    this.addSql(`
      create index deliveries_address on deliveries (workspace_id, (
        coalesce(payload->>'email', payload->'contact'->>'email', payload->'custom_event'->>'email')
      ), id)`);
    // Workspaces with subscriptions want to know which contacts are deleted.
    this.addSql(
      upgradeJobs('webhooks', [
        { task: 'pushInterests', key: 'interests of deletions', after: '1 minute' },
        { task: 'pushInterests', key: 'interests of deletions again', after: '1 hour' },
      ]),
    );
  }
}
