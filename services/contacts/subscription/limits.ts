import { Code } from '@connectrpc/connect';
import { retryLater } from '#lib/errors/errors.ts';
import { clientNetwork } from '#lib/networks/client-network.ts';
import {
  countAttempt,
  type Limit,
  type RateLimitState,
  setRateLimitHeaders,
} from '#lib/postgres/attempts.ts';
import type { Store } from '#lib/postgres/store.ts';

const windowMs = 60_000;
const perAddressMax = 10;
const perClientMax = 50;
/** Enough for the form of a busy site, and too few for a flood of invented addresses. */
const perListMax = 1_000;
/** Each of these may keep a row of a used solution for ten minutes. */
const perWorkspaceMax = 5_000;

type SubscriptionRequest = {
  workspaceId: string;
  email: string;
  listIds: readonly string[];
  client: string;
  /** Whether it comes with a proof of work. */
  isSolved: boolean;
};

/**
 * Refuses too many requests for an address, by a client or to a list, or with a proof of work for a
 * workspace; otherwise returns what is left.
 */
export async function limitSubscriptions(
  { store, now }: { store: Store; now: () => Date },
  { workspaceId, email, listIds, client, isSolved }: SubscriptionRequest,
): Promise<RateLimitState> {
  const limits: Limit[] = [
    { key: `subscribe address ${email}`, attemptsMax: perAddressMax, windowMs },
    { key: `subscribe client ${clientNetwork(client)}`, attemptsMax: perClientMax, windowMs },
    ...listIds.map((id) => ({
      key: `subscribe list ${workspaceId} ${id}`,
      attemptsMax: perListMax,
      windowMs,
    })),
    ...(isSolved
      ? [{ key: `subscribe solved ${workspaceId}`, attemptsMax: perWorkspaceMax, windowMs }]
      : []),
  ];
  const room = await countAttempt(store, limits, now());
  if (!room.isExhausted) return room;
  const error = retryLater(
    'Too many subscription attempts. Please try again in a few minutes.',
    Code.ResourceExhausted,
    room.resetMs,
  );
  setRateLimitHeaders(error.metadata, room);
  throw error;
}
