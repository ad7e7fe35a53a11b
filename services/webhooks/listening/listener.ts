import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';

/**
 * A listener takes the events of a workspace, where no endpoint can be called. Its deliveries are
 * `waiting`, and `delivered` once taken; nothing else looks at them. It ends when a caller says so,
 * or when it has taken nothing for a while, and is forgotten with its deliveries an hour later.
 */

/** How long a listener stays that takes nothing. */
export const idleMs = 5 * 60_000;
/** How long what it has taken stays after its end. */
export const keptMs = 60 * 60_000;
/** More than these are not kept for a listener that is slow or away. */
export const waitingMax = 10_000;
/** Of a workspace, now and with those that are not forgotten yet. */
export const liveMax = 10;
export const allMax = 100;

export type ListenerRow = {
  id: string;
  event_types: string[];
  /** RFC 3339, as `expires_at`. */
  created_at: string;
  expires_at: string;
};

export type ListenerKey = { workspaceId: string; id: string };

/** How many listeners a workspace has. */
export async function countListeners(
  em: EntityManager,
  workspaceId: string,
): Promise<{ live: number; all: number }> {
  const [row] = await query<{ live: number; all: number }>(
    em,
    `select count(*) filter (where ended_at is null)::int as live, count(*)::int as all
     from listeners where workspace_id = $1`,
    [workspaceId],
  );
  return { live: row?.live ?? 0, all: row?.all ?? 0 };
}
