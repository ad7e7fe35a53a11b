import { openStore, type Store } from '#lib/postgres/store.ts';
import type { QuotaContext } from '#lib/quotas/quotas.ts';
import { List } from './list.ts';
import { Initial } from './migrations/m0001-initial.ts';
import { Operations } from './migrations/m0002-operations.ts';
import { PageIndexes } from './migrations/m0003-page-indexes.ts';
import { Interests } from './migrations/m0004-interests.ts';
import { TemplateUses } from './migrations/m0005-template-uses.ts';
import { Segments } from './migrations/m0006-segments.ts';
import { Refusals } from './migrations/m0007-refusals.ts';
import { InterestVersions } from './migrations/m0008-interest-versions.ts';
import { PostponedChanges } from './migrations/m0009-postponed-changes.ts';
import { Welcomes } from './migrations/m0010-welcomes.ts';
import { FormSolutions } from './migrations/m0012-form-solutions.ts';

/**
 * Contacts and memberships have no entity: they are read and written in sets, by the field table.
 */
export function openContactsStore(url: string, connectionsMax?: number): Promise<Store> {
  return openStore({
    name: 'contacts',
    url,
    connectionsMax,
    entities: [List],
    migrations: {
      'm0001-initial': Initial,
      'm0002-operations': Operations,
      'm0003-page-indexes': PageIndexes,
      'm0004-interests': Interests,
      'm0005-template-uses': TemplateUses,
      'm0006-segments': Segments,
      'm0007-refusals': Refusals,
      'm0008-interest-versions': InterestVersions,
      'm0009-postponed-changes': PostponedChanges,
      'm0010-welcomes': Welcomes,
      'm0012-form-solutions': FormSolutions,
    },
  });
}

/** SQL that counts what a workspace uses of each quota. */
export const counts: QuotaContext['counts'] = {
  contacts: 'select count(*) as used from contacts where workspace_id = $1',
  lists: 'select count(*) as used from lists where workspace_id = $1 and deleted_at is null',
  segments: 'select count(*) as used from segments where workspace_id = $1',
  custom_events: 'select count(*) as used from custom_events where workspace_id = $1',
  timeline_entries: 'select count(*) as used from timeline_entries where workspace_id = $1',
};
