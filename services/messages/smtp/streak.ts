import { isAboutRecipient } from '../record/suppression.ts';
import type { Outcome } from './outcome.ts';

/** So many in a row are no chance: several recipients of one domain may well share a fate. */
const alikeMax = 10;

/**
 * What happens to many messages in a row in the same way, with no mail taken in between, is about the sender and
 * not about them.
 */
export class Streak {
  #sign = '';
  #count = 0;

  get isLong(): boolean {
    return this.#count >= alikeMax;
  }

  /**
   * The outcome as it stands beside those before it: one too many in a row is an outage as well. `isFirst` says that
   * its connection had taken no mail before; one that had may have ended with all others when a server restarts.
   */
  judge(outcome: Outcome, isFirst: boolean): Outcome {
    if (outcome.kind === 'sent') this.#count = 0;
    const sign = signOf(outcome, isFirst);
    if (sign === undefined) return outcome;
    this.#count = sign === this.#sign ? this.#count + 1 : 1;
    this.#sign = sign;
    return this.isLong ? withOutage(outcome) : outcome;
  }
}

/** What makes outcomes alike; undefined where an outcome says nothing of others. */
function signOf(outcome: Outcome, isFirst: boolean): string | undefined {
  if (outcome.kind === 'unknown' && isFirst) return 'unknown';
  if (outcome.kind !== 'failed' || outcome.command === undefined) return undefined;
  if (isAboutRecipient(outcome)) return undefined;
  const { command, code, enhanced, info } = outcome;
  // Words with a digit in them are ids of the message or the session.
  const words = info.split(' ').filter((word) => !/\d/.test(word));
  return [command, code, enhanced, ...words].join(' ');
}

/** A refusal that is not the message's own fault is tried again later. */
function withOutage(outcome: Outcome): Outcome {
  if (outcome.kind === 'failed') {
    const { command, info } = outcome;
    const outage = `${command} was refused ${alikeMax} times in a row: ${info}`;
    return { kind: 'deferred', info, outage };
  }
  if (outcome.kind !== 'unknown') return outcome;
  const outage = `the server ended ${alikeMax} connections in a row before it had answered`;
  return { ...outcome, outage };
}
