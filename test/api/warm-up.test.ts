import { beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { fast, givenBroadcast, mailsTo, sendNow, setLimits, untilStatus } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { passTime } from '../stack/time.ts';
import { until } from '../stack/until.ts';

const today = new Date().toISOString().slice(0, 10);
const warm_up = { started_on: today, daily_limits: [10, 10] };

const stack = borrowedStack();
beforeAll(async () => {
  await passDay();
  await setLimits(stack, { rate_limit_per_minute: fast, warm_up });
}, 60_000);

/** Moves everything sent so far to the day before. */
async function passDay(): Promise<void> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  await client.query('update messages.sending_rates set day = day - 1');
  await client.end();
}

test('a broadcast in a warm-up sends its daily limit, pauses with the reason and continues automatically', async () => {
  const { id, emails } = await givenBroadcast(stack, 25);
  await sendNow(stack, id);
  for (const sent of [10, 20]) {
    await until(`${sent} mails`, async () => mailsTo(stack, emails).length >= sent);
    const paused = await untilStatus(stack, id, 'paused');
    expect(paused.pause_reason).toBe('warm-up limit of 10 messages a day reached');
    expect(mailsTo(stack, emails)).toHaveLength(sent);
    await passDay();
    await passTime(stack, id);
  }
  await untilStatus(stack, id, 'sent');
  expect(mailsTo(stack, emails)).toHaveLength(25);
  expect(new Set(mailsTo(stack, emails).map(({ email }) => email)).size).toBe(25);
}, 90_000);
