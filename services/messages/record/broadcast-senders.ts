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

/**
 * Records the From domains of broadcasts, for rates of complaints by domain. A process writes each
 * once, so that no mail costs a statement.
 */
export function createSenderNotes(store: Store): (sender: BroadcastSender) => Promise<void> {
  const noted = createCache<void>({ entriesMax: notedMax });
  return (sender) => {
    const { workspaceId, broadcastId, templateId, fromDomain } = sender;
    const key = [workspaceId, broadcastId, templateId, fromDomain].join(' ');
    return noted(key, async () => {
      await query(
        store.fork(),
        `insert into broadcast_senders as s (workspace_id, broadcast_id, template_id, from_domain)
         values ($1, $2, $3, $4)
         on conflict (workspace_id, broadcast_id, template_id) do update set from_domain = excluded.from_domain
         where s.from_domain <> excluded.from_domain`,
        [workspaceId, broadcastId, templateId, fromDomain],
      );
    });
  };
}
