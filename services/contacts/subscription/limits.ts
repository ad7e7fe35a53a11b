import { Code } from '@connectrpc/connect';
import { clientNetwork } from '#lib/client-network.ts';
import {
  countAttempt,
  type Limit,
  type RateLimitState,
  setRateLimitHeaders,
} from '#lib/postgres/attempts.ts';
import { retryLater } from '#lib/rpc/errors.ts';
import type { Context } from '../context.ts';

const windowMs = 60_000;
const perAddressMax = 10;
const perClientMax = 50;
/** What a form on a busy site needs, and no flood of made-up addresses gets. */
const perListMax = 1_000;

type Asked = { workspaceId: string; email: string; listIds: readonly string[]; client: string };

/** Refuses who asks too often: for an address, from a client's address, or for a list. Tells others what is left. */
export async function limitSubscriptions(
  { store, now }: Pick<Context, 'store' | 'now'>,
  { workspaceId, email, listIds, client }: Asked,
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
