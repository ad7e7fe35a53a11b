import { retryAfterMsOf } from '#lib/outside/retry-after.ts';
import { oneLine } from '../../reports/one-line.ts';
import { providerIdForm } from '../../reports/report.ts';
import { infoLength, retryAfterMaxMs, type SendOutcome } from '../outcome.ts';
import type { ApiAnswer } from './api.ts';

/** The status of an answer, or of one mail in it. */
export type Status = Pick<ApiAnswer, 'status' | 'headers'>;

/** As it is recorded: one line without addresses, with the status before the provider's words. */
export function infoOf({ status }: Status, words: string): string {
  return oneLine(`${status} ${words}`, infoLength);
}

/** The provider took the mail, and calls it by this id if it gave one. */
export function accepted(status: Status, given: { id: unknown; words?: string }): SendOutcome {
  const { id, words = '' } = given;
  const text = typeof id === 'number' || typeof id === 'string' ? String(id) : '';
  const isId = providerIdForm.test(text);
  return { kind: 'accepted', info: infoOf(status, words), ...(isId && { providerId: text }) };
}

/** A success of which the words can't be read: it is not known which mails were taken. */
export function unreadable(status: Status): SendOutcome {
  return { kind: 'unknown', info: infoOf(status, 'the answer could not be read') };
}

/** The address is dead. */
export function bounced(status: Status, words: string): SendOutcome {
  return { kind: 'bounced', info: infoOf(status, words) };
}

/** The account, or the sender of the mail, may not send. */
export function outage(status: Status, words: string): SendOutcome {
  return { kind: 'outage', info: infoOf(status, words) };
}

/** For now; for as long as the provider asks, if it does. */
export function deferred(status: Status, words: string, waitMs = waitOf(status)): SendOutcome {
  const info = infoOf(status, words);
  return waitMs > 0
    ? { kind: 'deferred', info, retryAfterMs: Math.min(waitMs, retryAfterMaxMs) }
    : { kind: 'deferred', info };
}

/** The mail is refused for good; in the same words for many in a row, the fault is another's. */
export function refused(status: Status, words: string): SendOutcome {
  const info = infoOf(status, words);
  // Words with a digit are ids and sizes.
  const same = info.split(' ').filter((word) => !/\d/.test(word));
  const sign = [status.status, ...same].join(' ');
  return { kind: 'failed', info, alike: { sign, refused: 'the mail', mayBeAccount: false } };
}

/**
 * Whether a firewall before the provider has answered: in JSON the provider refuses the account,
 * but a firewall may have found something in a single mail.
 */
export function isOfFirewall({ status, json }: ApiAnswer): boolean {
  return status === 403 && json === undefined;
}

/** The mail's fault once others are taken, and that of the account once many are refused. */
export function refusedByOther({ status }: Status): SendOutcome {
  const info = `${status} in an answer that is not that of the API`;
  return { kind: 'failed', info, alike: { sign: info, refused: 'the mail', mayBeAccount: true } };
}

/** It is the mail's own fault, and says nothing of others. */
export function failed(status: Status, words: string): SendOutcome {
  return { kind: 'failed', info: infoOf(status, words) };
}

/** Statuses of a wrong or blocked key, of a bill that is not paid, and of a wrong address. */
const accountStatuses = new Set([401, 402, 403, 404, 405]);
/** Beside those of the server's own errors. 420 is SparkPost's. */
const busyStatuses = new Set([408, 420, 425, 429]);

/** The outcome by a status that is no success, where the words of the provider say nothing else. */
export function byStatus(answer: Status, words: string): SendOutcome {
  const { status } = answer;
  if (status < 300) return unreadable(answer);
  if (status >= 500 || busyStatuses.has(status)) return deferred(answer, words);
  // Redirects are not followed: the key would go to another host.
  if (status < 400 || accountStatuses.has(status)) return outage(answer, words);
  return status === 413 ? failed(answer, words) : refused(answer, words);
}

/** `Retry-After`, in seconds or as a date; 0 if there is none. */
function waitOf({ headers }: Status): number {
  return retryAfterMsOf(headers['retry-after'], new Date());
}

/** The value at a path of an answer's JSON; undefined if there is none. */
export function at(json: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, key) => {
    const isOwn = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    return isOwn ? Reflect.get(value, key) : undefined;
  }, json);
}

/** The text at a path; empty if there is none. Numbers become texts. */
export function textAt(json: unknown, ...path: readonly (string | number)[]): string {
  const value = at(json, ...path);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The list at a path; empty if there is none. */
export function listAt(json: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const value = at(json, ...path);
  return Array.isArray(value) ? value : [];
}
