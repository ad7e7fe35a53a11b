import type { Outcome } from './outcome.ts';
import { isAboutRecipient } from './recipient-refusal.ts';

/** Fewer may be chance: several recipients of one domain often get the same answer. */
const alikeMax = 10;

/** Counts like outcomes in a row. Many, with no message sent in between, are the sender's fault and not the messages'. */
export class Streak {
  #sign = '';
  #count = 0;

  get isLong(): boolean {
    return this.#count >= alikeMax;
  }

  /**
   * The outcome, with an outage added once there are too many like it in a row. `isFirst`: the connection had taken no
   * message before; connections that had may all have ended because the server restarted.
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

/** Outcomes with the same sign are alike; undefined for an outcome that says nothing about other messages. */
function signOf(outcome: Outcome, isFirst: boolean): string | undefined {
  if (outcome.kind === 'unknown' && isFirst) return 'unknown';
  if (outcome.kind !== 'failed' || outcome.command === undefined) return undefined;
  if (isAboutRecipient(outcome)) return undefined;
  const { command, code, enhanced, info } = outcome;
  // Words with a digit are ids of the message or the session.
  const words = info.split(' ').filter((word) => !/\d/.test(word));
  return [command, code, enhanced, ...words].join(' ');
}

/** A refusal that is not the message's fault is tried again later. */
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
