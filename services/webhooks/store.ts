import { openStore, type Store } from '#lib/postgres/store.ts';
import type { QuotaContext } from '#lib/quotas/quotas.ts';
import { pendingSql } from './delivery.ts';
import { Initial } from './migrations/m0001-initial.ts';
import { MoreInterests } from './migrations/m0002-more-interests.ts';
import { Addresses } from './migrations/m0003-addresses.ts';
import { Traces } from './migrations/m0004-traces.ts';
import { EventTimes } from './migrations/m0005-event-times.ts';
import { Events } from './migrations/m0006-events.ts';
import { Backlogs } from './migrations/m0007-backlogs.ts';
import { Listeners } from './migrations/m0008-listeners.ts';
import { WaitingDeliveries } from './migrations/m0009-waiting-deliveries.ts';
import { OwnPayloads } from './migrations/m0010-own-payloads.ts';
import { EndOfAddresses } from './migrations/m0011-end-of-addresses.ts';
import { Subscription } from './subscription.ts';

/** Deliveries have no entity: they are read and written in sets. */
export function openWebhooksStore(url: string, connectionsMax?: number): Promise<Store> {
  return openStore({
    name: 'webhooks',
    url,
    connectionsMax,
    entities: [Subscription],
    migrations: {
      'm0001-initial': Initial,
      'm0002-more-interests': MoreInterests,
      'm0003-addresses': Addresses,
      'm0004-traces': Traces,
      'm0005-event-times': EventTimes,
      'm0006-events': Events,
      'm0007-backlogs': Backlogs,
      'm0008-listeners': Listeners,
      'm0009-waiting-deliveries': WaitingDeliveries,
      'm0010-own-payloads': OwnPayloads,
      'm0011-end-of-addresses': EndOfAddresses,
    },
  });
}

/** SQL that counts what a workspace uses of each quota. */
export const counts: QuotaContext['counts'] = {
  webhook_subscriptions: 'select count(*) as used from subscriptions where workspace_id = $1',
  pending_deliveries: `select count(*) as used from ${pendingSql('workspace_id = $1')} pending`,
  kept_deliveries: 'select count(*) as used from deliveries where workspace_id = $1',
  webhook_bytes: 'select sum(pg_column_size(payload)) as used from events where workspace_id = $1',
};
