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

type SubscriptionRequest = {
  workspaceId: string;
  email: string;
  listIds: readonly string[];
  client: string;
};

/**
 * Refuses too many requests for an address, by a client or to a list; otherwise returns what is
 * left.
 */
export async function limitSubscriptions(
  { store, now }: { store: Store; now: () => Date },
  { workspaceId, email, listIds, client }: SubscriptionRequest,
): Promise<RateLimitState> {
  const limits: Limit[] = [
    { key: `subscribe address ${email}`, attemptsMax: perAddressMax, windowMs },
    { key: `subscribe client ${clientNetwork(client)}`, attemptsMax: perClientMax, windowMs },
    ...listIds.map((id) => ({
      key: `subscribe list ${workspaceId} ${id}`,
      attemptsMax: perListMax,
      windowMs,
    })),
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
