import { expect, test } from '@jest/globals';
import type { WebhookDelivery } from '../../typescript/src/made/types.ts';
import { UsageError } from '../failures.ts';
import { openHistory, sinceOf } from './history.ts';

type Asked = { limit?: number; offset?: number };

/** `count` deliveries of events of their own, newest first, and one more of the first event. */
function given(count: number) {
  const all = Array.from({ length: count }, (_, at) => {
    const event = `01a2b3c4-0000-7000-8000-${String(count - at).padStart(8, '0')}`;
    const payload = { email: 'a@example.com' };
    return { id: `${event}0001`, event_type: 'email.sent', payload, occurred_at: 't' };
  });
  const last = all.at(-1);
  if (last) all.push({ ...last, id: last.id.replace(/1$/, '2') });
  let failures = 0;
  const deliveries = async ({ limit = 20, offset = 0 }: Asked) => {
    if (failures > 0) {
      failures -= 1;
      throw new Error('away');
    }
    const page = all.slice(offset, offset + limit) as unknown as WebhookDelivery[];
    return { deliveries: page, total: all.length, limit, offset };
  };
  const fail = () => {
    failures = 1;
  };
  return { subscriptions: { deliveries }, fail };
}

const period = { since: new Date(0), until: 't', types: new Set(['email.sent']) };

test('events come oldest first, each once, also after a page that failed', async () => {
  const { subscriptions, fail } = given(250);
  const history = openHistory(subscriptions, period, () => {});
  const seen: string[] = [];
  for (;;) {
    fail();
    await expect(history.next()).rejects.toThrow('away');
    const page = await history.next();
    if (!page) break;
    seen.push(...page.map(({ id }) => id.slice(24, 32)));
    if (seen.length === 250) break;
  }
  expect(seen.map(Number)).toEqual(Array.from({ length: 250 }, (_, at) => at + 1));
});

test('the newest of more than a thousand deliveries are read, and their number is said', async () => {
  const { subscriptions } = given(1_200);
  let total = 0;
  const history = openHistory(subscriptions, period, (count) => {
    total = count;
  });
  let count = 0;
  for (let page = await history.next(); page; page = await history.next()) count += page.length;
  expect({ total, count }).toEqual({ total: 1_201, count: 1_000 });
});

test('none have come', async () => {
  const { subscriptions } = given(0);
  expect(await openHistory(subscriptions, period, () => {}).next()).toBeUndefined();
});

test('a time is a number and a unit', () => {
  expect(sinceOf('10m', 3_600_000)).toEqual(new Date(3_000_000));
  for (const text of ['', '10', 'm', '1h1', '-1m', '9999999d', '999999d']) {
    expect(() => sinceOf(text)).toThrow(UsageError);
  }
});
