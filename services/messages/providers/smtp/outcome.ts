import { beginningOf, oneLine } from '../../reports/one-line.ts';
import { infoLength, retryAfterMaxMs, type SendOutcome } from '../outcome.ts';
import {
  type Command,
  isAboutRecipient,
  isHardBounce,
  type PermanentRefusal,
} from './recipient-refusal.ts';

export type Reply = { code: number; text: string };

/** A reply as it is recorded: one line without addresses, of at most 255 characters. */
export function infoOf({ code, text }: Reply): string {
  return oneLine(`${code} ${text}`, infoLength);
}

/** The reason of an outage: the refused command and the reply. */
export function outageInfo(refused: string, reply: Reply): string {
  return `${refused} was refused: ${infoOf(reply)}`.slice(0, infoLength);
}

/** Whether client and server no longer agree on the state of the session. */
export function isSequenceError({ code }: Pick<Reply, 'code'>): boolean {
  return code === 500 || code === 502 || code === 503;
}

/** Codes about the account. */
const accountErrors = new Set([530, 534, 535, 538]);

/**
 * The outcome of a refusal: 5xx is permanent, anything else temporary. MAIL names only the sender,
 * so its refusal is an outage; so is one of DATA that speaks of the account. A reply for one
 * recipient stops no others: see `Streak`.
 */
export function refusal(command: Command, reply: Reply): SendOutcome {
  const info = infoOf(reply);
  const isPermanent = reply.code >= 500 && reply.code < 600;
  const isOfAccount = accountErrors.has(reply.code) && command === 'DATA';
  if (isOfAccount || (isPermanent && command === 'MAIL')) {
    return { kind: 'outage', info: outageInfo(command, reply) };
  }
  if (isPermanent) {
    return permanent({ command, code: reply.code, enhanced: enhancedOf(reply), info });
  }
  const retryAfterMs = statedDelay(beginningOf(reply.text));
  return retryAfterMs === undefined
    ? { kind: 'deferred', info }
    : { kind: 'deferred', info, retryAfterMs };
}

function permanent(given: PermanentRefusal): SendOutcome {
  const { command, code, enhanced, info } = given;
  if (isHardBounce(given)) return { kind: 'bounced', info };
  if (isAboutRecipient(given)) return { kind: 'failed', info };
  // Words with a digit are ids of the message or the session.
  const words = info.split(' ').filter((word) => !/\d/.test(word));
  const sign = [command, code, enhanced, ...words].join(' ');
  const mayBeAccount = accountErrors.has(code) || isSequenceError(given);
  return { kind: 'failed', info, alike: { sign, refused: command, mayBeAccount } };
}

/** The outcome of a message that the server has in full. */
export function answered(reply: Reply): SendOutcome {
  if (reply.code >= 300) return refusal('the message', reply);
  const providerId = queueIdOf(reply);
  return { kind: 'accepted', info: infoOf(reply), ...(providerId && { providerId }) };
}

/** The id that servers name as `queued as 4F3B2A1C0D`; undefined where they name none. */
function queueIdOf({ text }: Reply): string | undefined {
  return /\bqueued as <?([A-Za-z0-9._-]{1,100})/i.exec(beginningOf(text))?.[1];
}

/** RFC 3463's code at the start of the text, such as `5.1.1`; empty if there is none. */
function enhancedOf({ text }: Reply): string {
  return /^([245]\.\d{1,3}\.\d{1,3})(?:\s|$)/.exec(text)?.[1] ?? '';
}

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** A wait that the answer names, as greylisting servers do: `try again in 300 seconds`. */
function statedDelay(text: string): number | undefined {
  const match =
    /\b(?:in|after|for|wait|within)\s+(\d{1,6})\s*(s|m|h)(?:ec|econd|in|inute|r|our)?s?\b/i.exec(
      text,
    );
  if (match === null) return undefined;
  const [, amount = '', unit = ''] = match;
  const delay = Number(amount) * (unitMs[unit.toLowerCase()] ?? 0);
  return delay > 0 ? Math.min(delay, retryAfterMaxMs) : undefined;
}
