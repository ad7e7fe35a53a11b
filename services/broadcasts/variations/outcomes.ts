import type { EntityManager } from '#lib/postgres/store.ts';
import type { Broadcast } from '../broadcast/broadcast.ts';
import { countsOf, noCounts, type RecipientCounts } from '../broadcast/queries.ts';
import type { Peers } from '../peers.ts';
import { readStatsIfReached, type StatsOf } from './stats.ts';

export type Outcomes = {
  countsOf: (broadcastId: string) => RecipientCounts;
  /** Undefined while messages can't be reached. */
  statsOf: StatsOf | undefined;
};

/**
 * The recipients of broadcasts by outcome, in all and by variation. All broadcasts are of one
 * workspace.
 */
export async function readOutcomes(
  context: Pick<Peers, 'sender'>,
  em: EntityManager,
  broadcasts: readonly Broadcast[],
): Promise<Outcomes> {
  const [first] = broadcasts;
  if (!first) return { countsOf: () => noCounts, statsOf: undefined };
  const ids = broadcasts.map(({ id }) => id);
  const [counts, statsOf] = await Promise.all([
    countsOf(em, first.workspace_id, ids),
    readStatsIfReached(context, broadcasts),
  ]);
  return { countsOf: counts, statsOf };
}
