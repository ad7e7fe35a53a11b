/*
 * Stops broadcasts of a sender that people complain about.
 *
 * Mailbox providers refuse all mail of a domain with too many complaints. The share is that of the
 * broadcasts that an integration began in the last week with the broadcast's From domain, among
 * mails that are reported as delivered, or among those sent where few are reported. Broadcasts
 * whose domain is not recorded count in every domain. Before the first mail of a broadcast its own
 * domain is not known, and the share is that of all. A person who resumes a broadcast has it sent
 * anyway.
 *
 * Limits: read at most twice a minute for each integration in each process; the newest hundred
 * broadcasts; none below a thousand mails. A broadcast goes on while messages cannot be reached.
 */

import type { VariationStats } from '#gen/postrider/messages/v1/messages_pb.ts';
import { createCache } from '#lib/cache.ts';
import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { counter } from '#lib/telemetry/metrics.ts';
import type { Broadcast, BroadcastKey } from '../broadcast/broadcast.ts';
import { isMoving } from '../broadcast/row.ts';
import { takeStep } from '../lifecycle/change.ts';
import type { Peers } from '../peers.ts';
import { reportsDelivery } from '../variations/winner.ts';

/** Complaints among 10,000 mails; 0 for never. */
export type ComplaintLimits = { warned: number; paused: number };

const broadcastsMax = 100;
const days = 7;
const mailsMin = 1_000;
const keepMs = 30_000;
const integrationsMax = 1_000;
const sendersMax = 1_000;
const waitMs = 2_000;

const complainedTotal = counter(
  'postrider_complaints_high_total',
  'Looks at the complaints about a sender that found them at a limit, by limit.',
  ['limit'],
);

type Complaints = { mails: number; complaints: number };

/** The numbers of one broadcast's mails with one template. */
type Counted = Pick<
  VariationStats,
  'broadcastId' | 'sent' | 'delivered' | 'complained' | 'fromDomain'
>;

export type ComplaintWatch = {
  /** Pauses a broadcast whose sender has too many complaints; says whether it did. */
  pauses(key: BroadcastKey, broadcast: Broadcast): Promise<boolean>;
};

type WatchContext = {
  store: Store;
  sender: Pick<Peers['sender'], 'listVariationStats'>;
  now: () => Date;
  log: Pick<Log, 'warn'>;
};

export function createComplaintWatch(
  { store, sender, now, log }: WatchContext,
  limits: ComplaintLimits,
): ComplaintWatch {
  const known = createCache<Counted[] | undefined>({ entriesMax: integrationsMax, keepMs });
  const warned = createCache<void>({ entriesMax: sendersMax, keepMs });
  const warn = async (about: Complaints & Record<string, unknown>) => {
    complainedTotal.inc({ limit: 'warned' });
    log.warn(about, 'recipients complain about broadcasts');
  };
  return {
    async pauses(key, { workspace_id: workspaceId, id, plan, ignore_complaints: isIgnored }) {
      const integrationId = plan?.integration_id ?? '';
      if (isIgnored || integrationId === '') return false;
      const counted = await known(`${workspaceId} ${integrationId}`, () =>
        readCounts({ store, sender, now: now() }, workspaceId, integrationId),
      );
      if (!counted) return false;
      const domain = counted.find((each) => each.broadcastId === id)?.fromDomain ?? '';
      const isOfDomain = ({ fromDomain }: Counted) =>
        domain === '' || fromDomain === '' || fromDomain === domain;
      const found = sumOf(counted.filter(isOfDomain));
      if (isAt(limits.warned, found)) {
        await warned(`${workspaceId} ${integrationId} ${domain}`, () =>
          warn({ workspaceId, integrationId, domain, ...found }),
        );
      }
      if (!isAt(limits.paused, found)) return false;
      const isPaused = await takeStep(store, key, (broadcast) => {
        if (!isMoving(broadcast.status) || broadcast.ignore_complaints) return false;
        broadcast.pauseForComplaints(now(), reasonOf(found, domain, limits));
        return true;
      });
      if (isPaused) complainedTotal.inc({ limit: 'paused' });
      return isPaused ?? false;
    },
  };
}

function isAt(limit: number, found: Complaints): boolean {
  if (limit === 0 || found.mails < mailsMin) return false;
  return found.complaints * 10_000 >= limit * found.mails;
}

function reasonOf(
  { mails, complaints }: Complaints,
  domain: string,
  { paused }: ComplaintLimits,
): string {
  const percent = (share: number) => `${Number((share * 100).toFixed(2))} %`;
  const from = domain === '' ? '' : ` of mail from ${domain}`;
  return `${complaints} of ${mails} recipients${from} of the last ${days} days complained (${percent(complaints / mails)}), and broadcasts pause at ${percent(paused / 10_000)}: send only to people who asked for it; resume sends the rest anyway`;
}

async function readCounts(
  { store, sender, now }: Pick<WatchContext, 'store' | 'sender'> & { now: Date },
  workspaceId: string,
  integrationId: string,
): Promise<Counted[] | undefined> {
  const begun = await query<{ id: string }>(
    store.fork(),
    `select id from broadcasts
     where workspace_id = $1 and plan->>'integration_id' = $2 and started_at > $3::timestamptz - $4::int * interval '1 day'
       and created_at > $3::timestamptz - interval '60 days'
     order by created_at desc limit ${broadcastsMax}`,
    [workspaceId, integrationId, now, days],
  );
  const broadcastIds = begun.map(({ id }) => id);
  const answer = await sender
    .listVariationStats({ workspaceId, broadcastIds }, { timeoutMs: waitMs })
    .catch(() => undefined);
  return answer?.stats;
}

function sumOf(counted: readonly Counted[]): Complaints {
  const sum = (of: 'sent' | 'delivered' | 'complained') =>
    counted.reduce((total, each) => total + each[of], 0);
  const numbers = { sent: sum('sent'), delivered: sum('delivered'), opened: 0, clicked: 0 };
  const isReported = reportsDelivery([{ numbers }]);
  return {
    mails: isReported ? numbers.delivered : numbers.sent,
    complaints: sum('complained'),
  };
}
