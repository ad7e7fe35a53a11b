import { nextDueAt } from '../message.ts';
import type { SendOutcome } from '../providers/outcome.ts';
import type { ClaimedMessage } from '../record/claims.ts';
import type { SendResult } from '../record/results.ts';

/**
 * The result to record for an outcome; undefined where the message was not started, so that its
 * claim is given back.
 */
export function resultOf(
  message: ClaimedMessage,
  outcome: SendOutcome,
  given: { now: Date; unknownRetries: number; isDirect?: boolean | undefined },
): SendResult | undefined {
  const { id, attempts, unknown, createdAt } = message;
  const when = { createdAt, now: given.now, isDirect: given.isDirect ?? false };
  switch (outcome.kind) {
    case 'not_started':
    case 'outage':
      return undefined;
    case 'accepted': {
      const { info, providerId } = outcome;
      return { ...ended(id, 'sent', info), ...(providerId && { providerId }) };
    }
    case 'bounced':
      return { ...ended(id, 'failed', outcome.info), isBounce: true };
    case 'failed':
      return ended(id, 'failed', outcome.info);
    case 'deferred': {
      const { info, retryAfterMs } = outcome;
      // A try that was interrupted says nothing of how busy the server is: it lengthens no wait.
      const refused = Math.max(1, attempts - unknown);
      const dueAt = nextDueAt({ ...when, attempts: refused, retryAfterMs });
      const status = dueAt ? 'deferred' : 'failed';
      return { id, status, info, dueAt, isUnknown: false, isBounce: false };
    }
    case 'unknown': {
      const dueAt = nextDueAt({ ...when, attempts });
      if (unknown >= given.unknownRetries || !dueAt) {
        return { ...sentUnanswered(id, unknown + 1, outcome.info), isUnknown: true };
      }
      const { info } = outcome;
      return { id, status: 'deferred', info, dueAt, isUnknown: true, isBounce: false };
    }
  }
}

/** Most of what got no answer has arrived: another try is a second copy more often than a first. */
function sentUnanswered(id: string, tries: number, reason: string): SendResult {
  const info = `no answer to ${tries === 1 ? 'one try' : `${tries} tries`}, not tried again: ${reason}`;
  return ended(id, 'sent', info);
}

function ended(id: string, status: 'sent' | 'failed', info: string): SendResult {
  return { id, status, info, dueAt: undefined, isUnknown: false, isBounce: false };
}
