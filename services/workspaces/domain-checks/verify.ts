import { Code } from '@connectrpc/connect';
import { retryLater } from '#lib/errors/errors.ts';
import { countAttempt } from '#lib/postgres/attempts.ts';
import type { Domain } from '../domains/domain.ts';
import { addDomainChecks, findDomain } from '../domains/queries.ts';
import { type Checking, checkDomain } from './check.ts';

const verifiesMax = 10;
const windowMs = 60_000;

/** Checks a domain for somebody who waits, and returns it. Throws ResourceExhausted. */
export async function verifyNow(
  checking: Checking,
  { workspaceId, name: given }: { workspaceId: string; name: string },
): Promise<Domain> {
  const { store, now } = checking;
  const { name } = await findDomain(store.fork(), workspaceId, given);
  const limit = { key: `verify domains ${workspaceId}`, attemptsMax: verifiesMax, windowMs };
  const { isExhausted, resetMs } = await countAttempt(store, [limit], now());
  if (isExhausted) {
    const text = `a workspace may verify ${verifiesMax} times a minute`;
    throw retryLater(text, Code.ResourceExhausted, resetMs);
  }
  await checkDomain(checking, { workspaceId, name });
  await addDomainChecks(store.fork(), workspaceId);
  return findDomain(store.fork(), workspaceId, name);
}
