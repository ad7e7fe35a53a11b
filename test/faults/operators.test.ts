import { expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import {
  act,
  fast,
  givenBroadcast,
  good,
  mailsTo,
  readBroadcast,
  sendNow,
  setRate,
  untilFlowing,
  untilStatus,
} from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { runStatus, withRun } from '../stack/workflows.ts';

const stack = borrowedStack();

async function givenFlowing(recipients: number, ratePerMinute: number) {
  const broadcast = await givenBroadcast(stack, recipients);
  await setRate(stack, ratePerMinute);
  await sendNow(stack, broadcast.id);
  await untilFlowing(stack, broadcast.emails);
  return broadcast;
}

/** The counts of the slices, the messages and the API. */
async function expectOnce(id: string, emails: readonly string[]): Promise<void> {
  const broadcast = await readBroadcast(stack, id);
  expect(broadcast).toMatchObject({ status: 'sent', sent_count: emails.length });
  const query = { workspace_id: stack.workspaceId, broadcast_id: id };
  const { stats } = good(await stack.call('messages.broadcastStats', undefined, { query }));
  expect(stats).toMatchObject({ total_sent: emails.length, total_unknown: 0 });
  expect(mailsTo(stack, emails)).toHaveLength(emails.length);
}

test('a run that an operator terminates pauses its broadcast with the reason; resume sends the rest', async () => {
  const { id, emails } = await givenFlowing(2_000, 3_000);
  await withRun(stack, id, (handle) => handle.terminate('by an operator'));
  // The watch checks every 15 s the rows that did not change for 10 s.
  const paused = await untilStatus(stack, id, 'paused', { withinMs: 70_000 });
  expect(paused.pause_reason).toBe('its workflow was terminated; resume starts a new one');
  await setRate(stack, fast);
  good(await act(stack, 'resume', id));
  await untilStatus(stack, id, 'sent');
  await expectOnce(id, emails);
}, 120_000);

test('a run that an operator cancels cancels its broadcast', async () => {
  const { id, emails } = await givenFlowing(900, 3_000);
  await withRun(stack, id, (handle) => handle.cancel());
  await untilStatus(stack, id, 'cancelled');
  expect(mailsTo(stack, emails).length).toBeLessThan(900);
  await withRun(stack, id, (handle) => handle.result());
  expect(await runStatus(stack, id)).toBe('COMPLETED');
}, 60_000);

test('a run that an operator resets to its beginning sends nothing twice', async () => {
  const { id, emails } = await givenFlowing(600, 6_000);
  await withRun(stack, id, async (handle, client) => {
    const { runId } = await handle.describe();
    await client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: handle.workflowId, runId },
      reason: 'by an operator',
      // The first workflow task of a run that a signal has started ends here.
      workflowTaskFinishEventId: await firstTaskEnd(handle),
      requestId: crypto.randomUUID(),
    });
  });
  await untilStatus(stack, id, 'sent');
  await expectOnce(id, emails);
  await withRun(stack, id, (handle) => handle.result());
}, 60_000);

async function firstTaskEnd(handle: WorkflowHandle) {
  const { events } = await handle.fetchHistory();
  const end = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  if (!end?.eventId) throw new Error('the run has not begun');
  return end.eventId;
}

test('repeated and needless signals change nothing', async () => {
  const { id, emails } = await givenFlowing(300, 6_000);
  await withRun(stack, id, async (handle) => {
    await Promise.all([handle.signal('changed'), handle.signal('changed')]);
    await handle.signal('unheard-of');
  });
  await untilStatus(stack, id, 'sent');
  await expectOnce(id, emails);
}, 60_000);

test("an operator's update pauses and resumes as the API does", async () => {
  const { id, emails } = await givenFlowing(300, 6_000);
  expect(await withRun(stack, id, (handle) => handle.executeUpdate('pause'))).toBe('paused');
  expect((await readBroadcast(stack, id)).status).toBe('paused');
  expect(await withRun(stack, id, (handle) => handle.executeUpdate('resume'))).toBe('sending');
  await untilStatus(stack, id, 'sent');
  await expectOnce(id, emails);
}, 60_000);
