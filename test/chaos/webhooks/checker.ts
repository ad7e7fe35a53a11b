import { unstoredMax } from '../../../services/webhooks/sending/recorder.ts';
import { maxSize } from '../../../services/webhooks/sending/windows.ts';
import type { Fault } from './schedule.ts';

/** A callback as the endpoint has received it. */
export type Arrival = { atMs: number; path: string; id: string; email: string };

export type Observed = {
  /** Of contacts whose import was answered with success; each has one event. */
  emails: readonly string[];
  arrivals: readonly Arrival[];
  faults: readonly Pick<Fault, 'name'>[];
  /** When deletion of the second subscription was answered. */
  deletedAtMs: number;
};

export type Verdict = {
  lost: number;
  twice: number;
  bound: number;
  afterDeletion: number;
  problems: string[];
};

export const kept = '/kept';
export const deleted = '/deleted';
const subscriptions = 2;
/** The service makes first attempts, its worker retries. */
const processes = 2;
const callbackMsMax = 10_000;

/**
 * At a kill of one that sends: what it has open, and what has an answer that is not stored. At a
 * kill of the endpoint: what is open.
 */
export function boundOf(faults: readonly Pick<Fault, 'name'>[]): number {
  const open = maxSize * subscriptions;
  const each = faults.map(({ name }) => {
    if (name === 'endpoint') return open * processes;
    return name.startsWith('webhooks') ? open + unstoredMax : 0;
  });
  return each.reduce((sum, most) => sum + most, 0);
}

/** Every event at least once, under one id, and none for a subscription that is deleted. */
export function verdictOf({ emails, arrivals, faults, deletedAtMs }: Observed): Verdict {
  const problems: string[] = [];
  const byEmail = Map.groupBy(
    arrivals.filter(({ path }) => path === kept),
    ({ email }) => email,
  );
  const lost = emails.filter((email) => !byEmail.has(email)).length;
  if (lost > 0) problems.push(`${lost} events never came`);
  let twice = 0;
  for (const [email, came] of byEmail) {
    twice += came.length - 1;
    const ids = new Set(came.map(({ id }) => id));
    if (ids.size > 1) problems.push(`the event of ${email} came under ${ids.size} ids`);
  }
  const bound = boundOf(faults);
  if (twice > bound) problems.push(`${twice} came twice, more than ${bound}`);
  const late = arrivals.filter(({ path, atMs }) => path === deleted && atMs > deletedAtMs);
  const openMax = maxSize * processes;
  if (late.length > openMax || late.some(({ atMs }) => atMs > deletedAtMs + callbackMsMax)) {
    problems.push(
      `${late.length} came for the deleted subscription, which may have had ${openMax} open`,
    );
  }
  return { lost, twice, bound, afterDeletion: late.length, problems };
}
