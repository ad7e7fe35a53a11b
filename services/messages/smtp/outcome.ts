import { withoutAddresses } from '#lib/log.ts';

/** What became of one recipient. */
export type Outcome =
  /** The server took it. */
  | { kind: 'sent'; info: string }
  /** Refused for good. */
  | { kind: 'failed'; code: number; enhanced: string; info: string }
  /** Refused for now. */
  | { kind: 'deferred'; info: string; retryAfterMs?: number }
  /** The connection ended after the final dot was written and before the server's answer. */
  | { kind: 'unknown'; info: string }
  /** Nothing of it was taken: aborted, or its lease was over. */
  | { kind: 'not_started' }
  /** The provider takes no mail at all; nothing of this message was sent. */
  | { kind: 'outage'; info: string };

export type Reply = { code: number; text: string };

const infoLength = 255;
/** A server that asks for more is asked again within a day. */
const retryAfterMaxMs = 24 * 60 * 60 * 1000;

/** The server's words for people: one line, no addresses, no more than fits. */
export function infoOf(reply: Reply): string {
  const words = withoutAddresses(reply.text);
  return `${reply.code} ${words}`
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, infoLength);
}

/** The outcome of a refusal: 5xx is for good, anything else for now. */
export function refusal(reply: Reply): Outcome {
  const info = infoOf(reply);
  if (reply.code >= 500 && reply.code < 600) {
    return { kind: 'failed', code: reply.code, enhanced: enhancedOf(reply), info };
  }
  return { kind: 'deferred', info, retryAfterMs: statedDelay(reply.text) };
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
