import { hash } from 'node:crypto';

export type MessageStatus = 'sending' | 'sent' | 'failed' | 'skipped' | 'deferred';

/**
 * The outcome of a message so far: `unknown` counts the tries that got no answer, `info` is the
 * server's last reply.
 */
export type Fate = { status: MessageStatus; unknown: number; info: string; dueAt?: Date };

/**
 * The id of a broadcast's message to an address; deterministic, so that a repeated call finds the
 * same row.
 */
export function broadcastMessageId(
  workspaceId: string,
  broadcastId: string,
  email: string,
): string {
  const hex = hash('sha256', `${workspaceId}\0${broadcastId}\0${email}`, 'hex');
  // UUID version 8: custom bits, except for version and variant.
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const minuteMs = 60_000;
const waitsMs = [1, 5, 15, 60].map((minutes) => minutes * minuteMs);
const dayMs = 24 * 60 * minuteMs;
/** A message that is still refused after a day has failed. */
const triedForMs = dayMs;
/**
 * The same where we take the place of a mail queue, which tries for 4 to 5 days (RFC 5321,
 * 4.5.4.1): waits for the rate of a receiver are part of it.
 */
const triedDirectlyForMs = 5 * dayMs;

/**
 * When a refused message is tried again; undefined if never. A longer delay that the server states
 * is kept.
 */
export function nextDueAt(given: {
  attempts: number;
  createdAt: Date;
  now: Date;
  retryAfterMs?: number;
  /** Whether it goes to a server that delivers to its receiver directly. */
  isDirect?: boolean;
}): Date | undefined {
  const scheduled = waitsMs[given.attempts - 1] ?? 60 * minuteMs;
  const due = given.now.getTime() + Math.max(scheduled, given.retryAfterMs ?? 0);
  const mostMs = triedFor(given.isDirect);
  return due - given.createdAt.getTime() > mostMs ? undefined : new Date(due);
}

/** For how many milliseconds a message is tried. */
export function triedFor(isDirect = false): number {
  return isDirect ? triedDirectlyForMs : triedForMs;
}
