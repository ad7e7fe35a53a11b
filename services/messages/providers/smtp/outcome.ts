import { withoutAddresses } from '#lib/log.ts';

/** The part of a message's transaction that a server refuses. */
export type Command = 'MAIL' | 'RCPT' | 'DATA' | 'the message';

/** The outcome for one recipient. */
export type SendOutcome =
  /** The server took it. */
  | { kind: 'sent'; info: string }
  /** Refused for good. Without a command, and with code 0: it can't be rendered or sent. */
  | { kind: 'failed'; command?: Command; code: number; enhanced: string; info: string }
  /** Refused for now. `outage`: why the provider takes no other mail either. */
  | { kind: 'deferred'; info: string; retryAfterMs?: number; outage?: string }
  /** The connection ended after the final dot was written and before the server's answer. */
  | { kind: 'unknown'; info: string; outage?: string }
  /** Nothing was sent: aborted, or the lease was over. */
  | { kind: 'not_started' }
  /** The provider takes no mail at all; nothing of this message was sent. */
  | { kind: 'outage'; info: string };

export type Reply = { code: number; text: string };

const infoLength = 255;
/** A reply may have 400 KB; code, reason and delay are in its first lines. */
const wordsLength = 2_000;
/** A longer delay than a day is not kept. */
const retryAfterMaxMs = 24 * 60 * 60 * 1000;

/** A reply as it is recorded: one line without addresses, of at most 255 characters. */
export function infoOf(reply: Reply): string {
  const words = withoutAddresses(wordsOf(reply));
  return `${reply.code} ${words}`
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, infoLength);
}

/**
 * The beginning of a long reply. It ends with a whole word, since half an address does not look
 * like one.
 */
function wordsOf({ text }: Reply): string {
  if (text.length <= wordsLength) return text;
  const start = text.slice(0, wordsLength);
  return start.slice(0, Math.max(start.lastIndexOf(' '), start.lastIndexOf('\n'), 0));
}

/** The reason of an outage: the refused command and the reply. */
export function outageInfo(refused: string, reply: Reply): string {
  return `${refused} was refused: ${infoOf(reply)}`.slice(0, infoLength);
}

/** Why the provider takes no mail; undefined if the outcome doesn't say that it takes none. */
export function outageOf(outcome: SendOutcome): string | undefined {
  if (outcome.kind === 'outage') return outcome.info;
  return 'outage' in outcome ? outcome.outage : undefined;
}

/** Whether client and server no longer agree on the state of the session. */
export function isSequenceError({ code }: Pick<Reply, 'code'>): boolean {
  return code === 500 || code === 502 || code === 503;
}

/** Codes about the account. */
const accountErrors = new Set([530, 534, 535, 538]);

/**
 * Whether a refusal speaks of the session or the account though it answers for one message. Only
 * what becomes of other messages tells which of the two it is about.
 */
export function isAmbiguous(outcome: SendOutcome): boolean {
  return outcome.kind === 'failed' && (accountErrors.has(outcome.code) || isSequenceError(outcome));
}

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
    return { kind: 'failed', command, code: reply.code, enhanced: enhancedOf(reply), info };
  }
  const retryAfterMs = statedDelay(wordsOf(reply));
  return retryAfterMs === undefined
    ? { kind: 'deferred', info }
    : { kind: 'deferred', info, retryAfterMs };
}

/** The outcome of a message that the server has in full. */
export function answered(reply: Reply): SendOutcome {
  return reply.code < 300 ? { kind: 'sent', info: infoOf(reply) } : refusal('the message', reply);
}

/** The outcome of a message that can't be rendered or encoded. */
export function unwritable(info: string): SendOutcome {
  return { kind: 'failed', code: 0, enhanced: '', info };
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
