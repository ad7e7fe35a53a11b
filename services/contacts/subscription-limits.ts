import { Code } from '@connectrpc/connect';
import { countAttempt, type Limit } from '#lib/attempts.ts';
import { retryLater } from '#lib/rpc/errors.ts';
import type { Context } from './context.ts';

const windowMs = 60_000;
const perAddressMax = 10;
const perClientMax = 50;
/** What a form on a busy site needs, and no flood of made-up addresses gets. */
const perListMax = 1_000;

type Asked = { workspaceId: string; email: string; listIds: readonly string[]; client: string };

/** Refuses who asks too often: for an address, from a client's address, or for a list. */
export async function limitSubscriptions(
  { store, now }: Pick<Context, 'store' | 'now'>,
  { workspaceId, email, listIds, client }: Asked,
): Promise<void> {
  const limits: Limit[] = [
    { key: `subscribe address ${email}`, attemptsMax: perAddressMax, windowMs },
    { key: `subscribe client ${client}`, attemptsMax: perClientMax, windowMs },
    ...listIds.map((id) => ({
      key: `subscribe list ${workspaceId} ${id}`,
      attemptsMax: perListMax,
      windowMs,
    })),
  ];
  const exhausted = await countAttempt(store, limits, now());
  if (!exhausted) return;
  const { limit, retryMs } = exhausted;
  const error = retryLater(
    'Too many subscription attempts. Please try again in a few minutes.',
    Code.ResourceExhausted,
    retryMs,
  );
  error.metadata.set('ratelimit-limit', `${limit.attemptsMax}`);
  error.metadata.set('ratelimit-remaining', '0');
  error.metadata.set('ratelimit-reset', `${Math.ceil(retryMs / 1_000)}`);
  throw error;
}
