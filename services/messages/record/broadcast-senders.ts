import { createCache } from '#lib/cache.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';

/** A broadcast's mails with one template, and the domain of their From address. */
export type BroadcastSender = {
  workspaceId: string;
  broadcastId: string;
  templateId: string;
  fromDomain: string;
};

const notedMax = 10_000;
/** Another process may have written a domain that the sender has left since. */
const notedKeptMs = 60_000;

/**
 * Records the From domains of broadcasts, for rates of complaints by domain. A process writes one
 * when it changes, and once a minute while mail goes out: no mail costs a statement, and after a
 * minute the row has the domain that all replicas send from.
 */
export function createSenderNotes(
  store: Store,
  { keepMs = notedKeptMs } = {},
): (sender: BroadcastSender) => Promise<void> {
  const noted = createCache<string>({ entriesMax: notedMax, keepMs });
  return async (sender) => {
    const { workspaceId, broadcastId, templateId, fromDomain } = sender;
    const key = [workspaceId, broadcastId, templateId].join(' ');
    const write = async () => {
      await writeSender(store, sender);
      return fromDomain;
    };
    if ((await noted(key, write)) === fromDomain) return;
    noted.drop((each) => each === key);
    await noted(key, write);
  };
}

async function writeSender(
  store: Store,
  { workspaceId, broadcastId, templateId, fromDomain }: BroadcastSender,
): Promise<void> {
  await query(
    store.fork(),
    `insert into broadcast_senders as s (workspace_id, broadcast_id, template_id, from_domain)
     values ($1, $2, $3, $4)
     on conflict (workspace_id, broadcast_id, template_id) do update set from_domain = excluded.from_domain
     where s.from_domain <> excluded.from_domain`,
    [workspaceId, broadcastId, templateId, fromDomain],
  );
}
