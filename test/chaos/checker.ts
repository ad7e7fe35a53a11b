import pg from 'pg';
import { unstoredMax } from '../../services/messages/record/recorder.ts';
import { good, readBroadcast } from '../stack/given.ts';
import { endStatus } from '../stack/workflows.ts';
import type { TestStack } from '../stack.ts';
import type { Happened } from './schedule.ts';

/** `outsiders` must get nothing. */
export type Sent = { id: string; emails: string[]; outsiders?: string[] };

export type Verdict = {
  lost: number;
  twice: number;
  bound: number;
  unknown: number;
  counts: Record<string, number>;
  /** The faults of the run; empty if it is good. */
  problems: string[];
};

/**
 * The number of mails that may arrive twice: what was on its way to the mail server when messages
 * was killed; without a journal, and when it was frozen for longer than its leases, also the
 * outcomes that were not recorded yet. A living process records its outcomes, whatever happens to
 * the database.
 */
export function boundOf(faults: readonly Happened[], hasJournal: boolean): number {
  const ofMessages = faults.filter(({ name }) => name.startsWith('messages'));
  const each = ofMessages.map(({ action, connections }) => {
    const isKnown = hasJournal && action === 'kill';
    return connections + (isKnown ? 0 : unstoredMax);
  });
  return each.reduce((sum, most) => sum + most, 0);
}

/** Compares the sink, the database, the API and Temporal. */
export async function check(
  stack: TestStack,
  { id, emails, outsiders = [] }: Sent,
  faults: readonly Happened[],
): Promise<Verdict> {
  const problems: string[] = [];
  const expect = (isSo: boolean, problem: string): void => {
    if (!isSo) problems.push(problem);
  };
  const byEmail = mailsByEmail(stack, emails);
  const [record, unknownOf] = await readRecord(stack, id);
  const doubled = [...byEmail].filter(([, messageIds]) => messageIds.length > 1);
  const twice = doubled.reduce((sum, [, messageIds]) => sum + messageIds.length - 1, 0);
  const lost = emails.length - byEmail.size - (record.failed ?? 0) - (record.skipped ?? 0);
  const bound = boundOf(faults, stack.hasJournal);
  const others = mailsByEmail(stack, outsiders).size;
  expect(others === 0, `${others} got a mail that was not for them`);
  expect(lost === 0, `${lost} recipients got no mail`);
  expect(twice <= bound, `${twice} mails came twice, more than ${bound}`);
  for (const [email, messageIds] of doubled) {
    expect(new Set(messageIds).size === 1, `${email} got two different Message-IDs`);
    expect((unknownOf.get(email) ?? 0) > 0, `${email} got a repeat that is not counted as unknown`);
  }
  const broadcast = await readBroadcast(stack, id);
  const query = { workspace_id: stack.workspaceId, broadcast_id: id };
  const { stats } = good(await stack.call('messages.broadcastStats', undefined, { query }));
  expect(broadcast.status === 'sent', `it ended ${broadcast.status}: ${broadcast.pause_reason}`);
  const { enqueued_count: enqueued, sent_count: sent } = broadcast;
  const answered = sent + broadcast.failed_count + broadcast.skipped_count;
  expect(enqueued === emails.length, `${enqueued} recipients of ${emails.length}`);
  expect(answered === enqueued, `${answered} outcomes of ${enqueued}`);
  expect(sent === byEmail.size, `the API says ${sent} sent, the sink ${byEmail.size}`);
  expect(sent === record.sent, `the API says ${sent} sent, the database ${record.sent}`);
  expect(sent === stats.total_sent, `the stats say ${stats.total_sent} sent, the API ${sent}`);
  expect(
    stats.total_unknown >= doubled.length,
    `${stats.total_unknown} unknown, ${doubled.length} twice`,
  );
  expect((record.sending ?? 0) + (record.deferred ?? 0) === 0, 'something is still to be sent');
  const run = await endStatus(stack, id);
  expect(run === 'COMPLETED', `the workflow is ${run}`);
  return { lost, twice, bound, unknown: stats.total_unknown, counts: record, problems };
}

function mailsByEmail(stack: TestStack, emails: readonly string[]): Map<string, string[]> {
  const wanted = new Set(emails);
  const byEmail = new Map<string, string[]>();
  for (const { email, messageId } of stack.mails()) {
    if (wanted.has(email)) byEmail.set(email, [...(byEmail.get(email) ?? []), messageId]);
  }
  return byEmail;
}

/** Messages by status, and how often the outcome for each address was unknown. */
async function readRecord(
  { databaseUrl, workspaceId }: TestStack,
  id: string,
): Promise<[Record<string, number>, Map<string, number>]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ email: string; status: string; unknown: number }>(
      `select contact_email as email, status, unknown from messages.messages
       where workspace_id = $1 and broadcast_id = $2`,
      [workspaceId, id],
    );
    const counts: Record<string, number> = {};
    for (const { status } of rows) counts[status] = (counts[status] ?? 0) + 1;
    return [counts, new Map(rows.map(({ email, unknown }) => [email, unknown]))];
  } finally {
    await client.end();
  }
}
