import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import type { Slice } from './slice.ts';

/**
 * Contacts with odd values fail alone. If more than a tenth of a slice fails to render, the
 * template or a feed is broken, and every other recipient would probably fail too. Fewer than ten
 * failures may be chance.
 */
const tooMany = { min: 10, share: 0.1 };

type Tried = Pick<Slice, 'sent' | 'failed' | 'deferred' | 'unrendered'>;

/** Whether so many messages fail to render that the rest has to wait for a person. */
export function hasTooManyRenderFailures({ sent, failed, deferred, unrendered }: Tried): boolean {
  return unrendered >= tooMany.min && unrendered > (sent + failed + deferred) * tooMany.share;
}

/**
 * Why a broadcast has to pause; undefined where it may go on. Judges the total as well, since
 * slices may be tiny.
 */
export async function renderFailureReason(
  em: EntityManager,
  { workspaceId, id }: BroadcastKey,
): Promise<string | undefined> {
  const parts = await query<Tried & { reason: string }>(
    em,
    `select sum(sent)::int as sent, sum(failed)::int as failed, sum(deferred)::int as deferred,
            sum(unrendered)::int as unrendered, max(unrendered_reason) as reason
     from slices where workspace_id = $1 and broadcast_id = $2
     group by grouping sets ((number), ())
     having sum(unrendered) >= $3
     order by 4`,
    [workspaceId, id, tooMany.min],
  );
  const part = parts.find(hasTooManyRenderFailures);
  if (!part) return undefined;
  const { sent, failed, deferred, unrendered, reason } = part;
  return `${unrendered} of ${sent + failed + deferred} messages could not be rendered: ${reason}`;
}
