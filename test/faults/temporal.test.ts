import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
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
import { until } from '../stack/until.ts';
import { runStatus } from '../stack/workflows.ts';

const stack = borrowedStack();

test('a broadcast continues after Temporal is killed, and sends nothing twice', async () => {
  const { id, emails } = await givenBroadcast(stack, 500);
  await setRate(stack, 6_000);
  await sendNow(stack, id);
  await untilFlowing(stack, emails);
  stack.processes.kill('temporal');
  await untilStatus(stack, id, 'sent', { withinMs: 90_000 });
  expect(mailsTo(stack, emails)).toHaveLength(500);
}, 120_000);

test('nothing is sent twice while Temporal is frozen', async () => {
  const { id, emails } = await givenBroadcast(stack, 1_500);
  await setRate(stack, 6_000);
  await sendNow(stack, id);
  await untilFlowing(stack, emails);
  stack.processes.freeze('temporal');
  await sleep(13_000);
  stack.processes.thaw('temporal');
  await setRate(stack, fast);
  await untilStatus(stack, id, 'sent', { withinMs: 90_000 });
  expect(mailsTo(stack, emails)).toHaveLength(1_500);
}, 150_000);

test('schedule, pause and cancel are answered while Temporal is down, and take effect when it is back', async () => {
  await setRate(stack, 3_000);
  const scheduled = await givenBroadcast(stack, 20);
  const paused = await givenBroadcast(stack, 600);
  const cancelled = await givenBroadcast(stack, 20);
  const time = { scheduled_date: '2099-01-01', scheduled_time: '12:00', timezone: 'UTC' };
  good(await act(stack, 'schedule', cancelled.id, time));
  await sendNow(stack, paused.id);
  await untilFlowing(stack, paused.emails);
  await stack.processes.without(['temporal'], async () => {
    expect((await act(stack, 'schedule', scheduled.id, { send_now: true })).status).toBe(200);
    expect((await act(stack, 'pause', paused.id)).status).toBe(200);
    expect((await act(stack, 'cancel', cancelled.id)).status).toBe(200);
    expect((await readBroadcast(stack, cancelled.id)).status).toBe('cancelled');
  });
  await untilStatus(stack, scheduled.id, 'sent', { withinMs: 60_000 });
  await until('the cancelled run has ended', async () => {
    return (await runStatus(stack, cancelled.id)) === 'COMPLETED';
  });
  const stopped = mailsTo(stack, paused.emails).length;
  expect(stopped).toBeLessThan(600);
  await setRate(stack, fast);
  good(await act(stack, 'resume', paused.id));
  await untilStatus(stack, paused.id, 'sent', { withinMs: 60_000 });
  expect(mailsTo(stack, paused.emails)).toHaveLength(600);
  expect(mailsTo(stack, cancelled.emails)).toHaveLength(0);
}, 150_000);
