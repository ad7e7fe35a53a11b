import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import {
  act,
  draftOf,
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
import { until } from '../stack/until.ts';

const stack = borrowedStack();

/** The sent count of the broadcast matches the sink. */
async function untilCounted(id: string, emails: readonly string[]): Promise<void> {
  await until('everything that went out is counted', async () => {
    const { sent_count: sent } = await readBroadcast(stack, id);
    return sent === mailsTo(stack, emails).length;
  });
}

const refused = { status: 400, body: { code: 'failed_precondition' } };

test('pause stops mail at the sink within a second, and resume sends only the rest', async () => {
  const { id, emails } = await givenBroadcast(stack, 900);
  await setRate(stack, 12_000);
  await sendNow(stack, id);
  await untilFlowing(stack, emails);
  good(await act(stack, 'pause', id));
  const pausedAtMs = Date.now();
  await sleep(2_500);
  const late = mailsTo(stack, emails).filter(({ atMs }) => atMs > pausedAtMs + 1_000);
  expect(late).toEqual([]);
  expect(mailsTo(stack, emails).length).toBeLessThan(900);
  await untilCounted(id, emails);
  expect(await act(stack, 'delete', id)).toMatchObject(refused);
  good(await act(stack, 'resume', id));
  await untilStatus(stack, id, 'sent');
  expect(mailsTo(stack, emails)).toHaveLength(900);
}, 60_000);

test('a broadcast that is paused and resumed again and again sends to everybody once', async () => {
  const { id, emails } = await givenBroadcast(stack, 600);
  await setRate(stack, 9_000);
  await sendNow(stack, id);
  for (const waitMs of [150, 700, 30, 400, 0]) {
    await sleep(waitMs);
    good(await act(stack, 'pause', id));
    expect((await readBroadcast(stack, id)).status).toBe('paused');
    await sleep(waitMs / 2);
    good(await act(stack, 'resume', id));
  }
  const { sent_count: sent } = await untilStatus(stack, id, 'sent');
  expect(sent).toBe(600);
  expect(new Set(mailsTo(stack, emails).map(({ email }) => email)).size).toBe(600);
  expect(mailsTo(stack, emails)).toHaveLength(600);
}, 60_000);

test('cancel stops sending within a second, for good', async () => {
  const { id, emails } = await givenBroadcast(stack, 900);
  await setRate(stack, 12_000);
  await sendNow(stack, id);
  await untilFlowing(stack, emails);
  good(await act(stack, 'cancel', id));
  const cancelledAtMs = Date.now();
  await sleep(2_000);
  const late = mailsTo(stack, emails).filter(({ atMs }) => atMs > cancelledAtMs + 1_000);
  expect(late).toEqual([]);
  expect(await act(stack, 'resume', id)).toMatchObject(refused);
  expect((await readBroadcast(stack, id)).status).toBe('cancelled');
  await untilCounted(id, emails);
}, 60_000);

test('a scheduled broadcast can be edited and paused; one with a frozen audience cannot be edited', async () => {
  const { id, listId, templateId, emails } = await givenBroadcast(stack, 300);
  const update = (name: string) =>
    stack.call('broadcasts.update', { ...draftOf(stack, { listId, templateId }), id, name });
  const time = { scheduled_date: '2099-01-01', scheduled_time: '12:00', timezone: 'UTC' };
  good(await act(stack, 'schedule', id, time));
  expect(good(await update('Edited')).broadcast).toMatchObject({
    name: 'Edited',
    status: 'scheduled',
  });
  good(await act(stack, 'pause', id));
  good(await update('Edited while paused'));
  good(await act(stack, 'resume', id));
  expect((await readBroadcast(stack, id)).status).toBe('scheduled');
  good(await act(stack, 'cancel', id));
  const second = good(
    await stack.call('broadcasts.create', draftOf(stack, { listId, templateId })),
  ).broadcast;
  await setRate(stack, 6_000);
  await sendNow(stack, second.id);
  await untilFlowing(stack, emails);
  expect(
    await stack.call('broadcasts.update', {
      ...draftOf(stack, { listId, templateId }),
      id: second.id,
    }),
  ).toMatchObject(refused);
  good(await act(stack, 'pause', second.id));
  expect(
    await stack.call('broadcasts.update', {
      ...draftOf(stack, { listId, templateId }),
      id: second.id,
    }),
  ).toMatchObject(refused);
  good(await act(stack, 'resume', second.id));
  await setRate(stack, fast);
  await untilStatus(stack, second.id, 'sent');
  expect(mailsTo(stack, emails)).toHaveLength(300);
}, 60_000);
