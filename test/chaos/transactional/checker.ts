import type { Mail } from '../../stack/sink-client.ts';
import { boundOf } from '../checker.ts';
import type { Happened } from '../schedule.ts';

/** A message that a call has answered for. */
export type Accepted = {
  email: string;
  externalId: string;
  /** By each call that was answered. */
  messageIds: readonly string[];
};

/** A row of the record. */
export type Recorded = { id: string; external_id: string; status: string };

export type Observed = {
  accepted: readonly Accepted[];
  mails: readonly Mail[];
  rows: readonly Recorded[];
  faults: readonly Happened[];
  hasJournal: boolean;
};

export type Verdict = { lost: number; twice: number; bound: number; problems: string[] };

/**
 * Every message that was accepted came, or is recorded as failed; under one id, and twice only as
 * kills explain.
 */
export function verdictOf({ accepted, mails, rows, faults, hasJournal }: Observed): Verdict {
  const problems: string[] = [];
  const byEmail = Map.groupBy(mails, ({ email }) => email);
  const byKey = Map.groupBy(rows, ({ external_id }) => external_id);
  let lost = 0;
  let twice = 0;
  for (const { email, externalId, messageIds } of accepted) {
    const came = byEmail.get(email) ?? [];
    const own = byKey.get(externalId) ?? [];
    twice += Math.max(0, came.length - 1);
    if (came.length === 0 && !own.some(({ status }) => status === 'failed')) lost += 1;
    if (new Set(came.map(({ messageId }) => messageId)).size > 1) {
      problems.push(`${externalId} came as two messages`);
    }
    if (own.length !== 1) problems.push(`${externalId} has ${own.length} rows`);
    if (new Set(messageIds).size > 1) problems.push(`${externalId} was answered with two ids`);
    const isOver = own.every(({ status }) => status === 'sent' || status === 'failed');
    if (!isOver) problems.push(`${externalId} is ${own[0]?.status}`);
  }
  if (lost > 0) problems.push(`${lost} accepted messages never came`);
  const bound = boundOf(faults, hasJournal);
  if (twice > bound) problems.push(`${twice} came twice, more than ${bound}`);
  return { lost, twice, bound, problems };
}
