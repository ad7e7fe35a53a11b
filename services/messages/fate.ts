import { type Claimant, type Claimed, type ClaimGroup, claim } from './claims.ts';
import type { Context } from './context.ts';
import { nextDueAt } from './message.ts';
import { type Result, recordResults } from './results.ts';
import type { Outcome } from './smtp/outcome.ts';
import { isHardBounce } from './suppression.ts';

/** What an outcome makes of a claimed message; undefined where nothing of it happened, so that the claim is given back. */
export function resultOf(
  message: Claimed,
  outcome: Outcome,
  given: { now: Date; unknownRetries: number },
): Result | undefined {
  const { id, attempts, unknown, createdAt } = message;
  switch (outcome.kind) {
    case 'not_started':
    case 'outage':
      return undefined;
    case 'sent':
    case 'failed': {
      const { kind: status, info } = outcome;
      const isBounce = status === 'failed' && isHardBounce(outcome);
      return { id, status, info, dueAt: undefined, isUnknown: false, isBounce };
    }
    case 'deferred': {
      const { info, retryAfterMs } = outcome;
      // A try that was interrupted says nothing of how busy the server is: it lengthens no wait.
      const refused = Math.max(1, attempts - unknown);
      const dueAt = nextDueAt({ attempts: refused, createdAt, now: given.now, retryAfterMs });
      const status = dueAt ? 'deferred' : 'failed';
      return { id, status, info, dueAt, isUnknown: false, isBounce: false };
    }
    case 'unknown': {
      const dueAt = nextDueAt({ attempts, createdAt, now: given.now });
      if (unknown >= given.unknownRetries || !dueAt) {
        return { ...sentUnanswered(id, unknown + 1, outcome.info), isUnknown: true };
      }
      const { info } = outcome;
      return { id, status: 'deferred', info, dueAt, isUnknown: true, isBounce: false };
    }
  }
}

/** Most of what got no answer has arrived: another try is a second copy more often than a first. */
function sentUnanswered(id: string, tries: number, reason: string): Result {
  const info = `no answer to ${tries === 1 ? 'one try' : `${tries} tries`}, not tried again: ${reason}`;
  return { id, status: 'sent', info, dueAt: undefined, isUnknown: false, isBounce: false };
}

/**
 * Claims messages. One whose sender died, and that has had its tries in doubt by that, is recorded as sent and comes
 * back as such.
 */
export async function claimToSend(
  context: Context,
  { group, unknownRetries }: { group: ClaimGroup; unknownRetries: number },
  claimants: readonly Claimant[],
): Promise<Claimed[]> {
  const rows = await claim(context.store, context.owner, group, claimants);
  const isSpent = ({ status, unknown }: Claimed) =>
    status === 'sending' && unknown > unknownRetries;
  const spent = rows
    .filter(isSpent)
    .map(({ id, unknown }) => sentUnanswered(id, unknown, 'the process that sent it ended'));
  if (spent.length === 0) return rows;
  const recorded = await recordResults(context, group, spent);
  const results = new Map(spent.map((result) => [result.id, result]));
  return rows.flatMap((row) => {
    const result = results.get(row.id);
    if (!result) return row;
    // One that is not recorded is in other hands, and not to be sent here either.
    return recorded.has(row.id) ? { ...row, status: result.status, info: result.info } : [];
  });
}
