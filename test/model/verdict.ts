import pg from 'pg';
import { mailsTo, readBroadcast } from '../stack/given.ts';
import { endStatus } from '../stack/workflows.ts';
import type { TestStack } from '../stack.ts';
import type { Lived } from './life.ts';

/**
 * Claimed messages, up to a batch of one second, may still be sent after an unsubscribe or a
 * cancel.
 */
const inFlightMs = 3_000;

/**
 * The faults of a broadcast at rest; `bound` is the number of mails that may have arrived twice.
 */
export async function findProblems(
  stack: TestStack,
  lived: Lived,
  { status, bound }: { status: string; bound: number },
): Promise<string[]> {
  const problems = [...lived.problems];
  const expect = (isSo: boolean, problem: string): void => {
    if (!isSo) problems.push(`${lived.id} (${status}): ${problem}`);
  };
  const mails = mailsTo(stack, lived.emails);
  const reached = new Set(mails.map(({ email }) => email));
  expect(mails.length - reached.size <= bound, `${mails.length - reached.size} came twice`);
  const ids = new Set(mails.map(({ email, messageId }) => `${email} ${messageId}`));
  expect(ids.size === reached.size, 'a repeat has another Message-ID');
  for (const { email, atMs } of mails) {
    const left = lived.left.get(email) ?? Number.POSITIVE_INFINITY;
    expect(atMs < left + inFlightMs, 'somebody was mailed who had left');
    const cancelled = lived.cancelledAtMs ?? Number.POSITIVE_INFINITY;
    expect(atMs < cancelled + inFlightMs, 'a mail went out after the cancel');
  }
  if (status === 'draft') expect(mails.length === 0, 'a draft was sent');
  if (status === 'sent') await checkSent(stack, lived, { reached: reached.size, expect });
  if (status === 'sent' || status === 'cancelled') {
    const run = await endStatus(stack, lived.id).catch(() => 'NEVER STARTED');
    // One that was cancelled before it began may have no run.
    const isOver = run === 'COMPLETED' || (status === 'cancelled' && run === 'NEVER STARTED');
    expect(isOver, `its workflow is ${run}`);
  }
  if (status === 'cancelled') {
    const { sent_count: sent } = await readBroadcast(stack, lived.id);
    const { sent: recorded = 0 } = await readRecord(stack, lived.id);
    expect(sent === recorded, `the API says ${sent} sent, the record ${recorded}`);
  }
  return problems;
}

async function checkSent(
  stack: TestStack,
  { id, emails }: Lived,
  { reached, expect }: { reached: number; expect: (isSo: boolean, problem: string) => void },
): Promise<void> {
  const broadcast = await readBroadcast(stack, id);
  const { enqueued_count: enqueued, sent_count: sent } = broadcast;
  const { failed_count: failed, skipped_count: skipped } = broadcast;
  expect(enqueued <= emails.length, `${enqueued} recipients of ${emails.length}`);
  expect(sent + failed + skipped === enqueued, `${sent}+${failed}+${skipped} of ${enqueued}`);
  expect(sent === reached, `the API says ${sent} sent, the sink ${reached}`);
  const record = await readRecord(stack, id);
  expect(record.sent === sent, `the API says ${sent} sent, the record ${record.sent}`);
  const open = (record.sending ?? 0) + (record.deferred ?? 0);
  expect(open === 0, `${open} are still to be sent`);
}

async function readRecord(
  { databaseUrl, workspaceId }: TestStack,
  id: string,
): Promise<Record<string, number>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ status: string; count: number }>(
      `select status, count(*)::int as count from messages.messages
       where workspace_id = $1 and broadcast_id = $2 group by status`,
      [workspaceId, id],
    );
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  } finally {
    await client.end();
  }
}
