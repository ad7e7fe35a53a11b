import { openStore, type Store } from '#lib/postgres/store.ts';
import type { QuotaContext } from '#lib/quotas/quotas.ts';
import { Slice } from './audience/slice.ts';
import { Broadcast } from './broadcast/broadcast.ts';
import { Initial } from './migrations/m0001-initial.ts';
import { Tests } from './migrations/m0002-tests.ts';
import { DataFeeds } from './migrations/m0003-data-feeds.ts';
import { Audiences } from './migrations/m0004-audiences.ts';
import { SlicesHoldAddresses } from './migrations/m0005-slices-hold-addresses.ts';
import { Unrendered } from './migrations/m0006-unrendered.ts';
import { SettledSlices } from './migrations/m0007-settled-slices.ts';
import { WatchCursor } from './migrations/m0008-watch-cursor.ts';
import { FreezeInSteps } from './migrations/m0009-freeze-in-steps.ts';
import { TemplateUses } from './migrations/m0010-template-uses.ts';
import { SampleNumbers } from './migrations/m0011-sample-numbers.ts';
import { BegunSlices } from './migrations/m0012-begun-slices.ts';
import { Integrations } from './migrations/m0013-integrations.ts';
import { Complaints } from './migrations/m0014-complaints.ts';
import { Tags } from './migrations/m0015-tags.ts';

export const migrations = {
  'm0001-initial': Initial,
  'm0002-tests': Tests,
  'm0003-data-feeds': DataFeeds,
  'm0004-audiences': Audiences,
  'm0005-slices-hold-addresses': SlicesHoldAddresses,
  'm0006-unrendered': Unrendered,
  'm0007-settled-slices': SettledSlices,
  'm0008-watch-cursor': WatchCursor,
  'm0009-freeze-in-steps': FreezeInSteps,
  'm0010-template-uses': TemplateUses,
  'm0011-sample-numbers': SampleNumbers,
  'm0012-begun-slices': BegunSlices,
  'm0013-integrations': Integrations,
  'm0014-complaints': Complaints,
  'm0015-tags': Tags,
};

export function openBroadcastsStore(url: string, connectionsMax?: number): Promise<Store> {
  return openStore({
    name: 'broadcasts',
    url,
    connectionsMax,
    entities: [Broadcast, Slice],
    migrations,
  });
}

/** SQL that counts what a workspace uses of each quota. */
export const counts: QuotaContext['counts'] = {
  broadcasts: 'select count(*) as used from broadcasts where workspace_id = $1',
  feed_bytes: 'select sum(octet_length(json)) as used from global_feeds where workspace_id = $1',
};
