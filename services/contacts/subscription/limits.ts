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
/** Repeats of a form that failed. A solution that is never used up could fill all other limits. */
const perSolutionMax = 10;
/** The life of a challenge. */
const solutionWindowMs = 5 * windowMs;

type SubscriptionRequest = {
  workspaceId: string;
  email: string;
  listIds: readonly string[];
  client: string;
  /** The nonce of the proof of work that it comes with, if any. */
  nonce: Buffer | undefined;
};

/**
 * Refuses too many requests for an address, by a client or to a list, or with a proof of work for a
 * workspace; otherwise returns what is left.
 */
export async function limitSubscriptions(
  { store, now }: { store: Store; now: () => Date },
  { workspaceId, email, listIds, client, nonce }: SubscriptionRequest,
): Promise<RateLimitState> {
  const limits: Limit[] = [
    { key: `subscribe address ${email}`, attemptsMax: perAddressMax, windowMs },
    { key: `subscribe client ${clientNetwork(client)}`, attemptsMax: perClientMax, windowMs },
    ...listIds.map((id) => ({
      key: `subscribe list ${workspaceId} ${id}`,
      attemptsMax: perListMax,
      windowMs,
    })),
    ...(nonce ? solvedLimits(workspaceId, nonce) : []),
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

function solvedLimits(workspaceId: string, nonce: Buffer): Limit[] {
  const solution = `subscribe solution ${workspaceId} ${nonce.toString('hex')}`;
  return [
    { key: `subscribe solved ${workspaceId}`, attemptsMax: perWorkspaceMax, windowMs },
    { key: solution, attemptsMax: perSolutionMax, windowMs: solutionWindowMs },
  ];
}
