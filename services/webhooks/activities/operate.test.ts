import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { givenDeliveries, givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { operate } from './operate.ts';

const given = useService();
const secondsFromNow = (seconds: number) => new Date(given.clock.now.getTime() + seconds * 1_000);

async function givenRetries() {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId);
  const ids = await givenDeliveries(given, workspaceId, [
    { subscriptionId: id, attempts: 3 },
    { subscriptionId: id, attempts: 1 },
  ]);
  const due = async () => {
    const { deliveries } = await given.client.listWebhookDeliveries({ workspaceId });
    return deliveries
      .toSorted((a, b) => b.attempts - a.attempts)
      .map(({ nextAttemptAt }) => nextAttemptAt && timestampDate(nextAttemptAt));
  };
  return { key: { workspaceId, id }, ids, due };
}

test('retryNow makes waiting retries due, and none whose attempt is open', async () => {
  const { key, ids, due } = await givenRetries();
  const em = given.context.store.fork();
  await query(
    em,
    `update deliveries set next_attempt_at = $2, last_attempt_at = case id when $1 then $3 else $4 end::timestamptz
     where workspace_id = $5`,
    [ids[0], secondsFromNow(25), secondsFromNow(-600), secondsFromNow(-5), key.workspaceId],
  );
  await query(em, 'update subscriptions set probe_at = $2 where id = $1', [
    key.id,
    secondsFromNow(600),
  ]);
  expect(await operate(given.context)(key, 'retryNow')).toBe('failing');
  expect(await due()).toEqual([given.clock.now, secondsFromNow(25)]);
  const [row] = await query<{ due: boolean }>(
    em,
    'select probe_at <= $2 as due from subscriptions where id = $1',
    [key.id, given.clock.now],
  );
  expect(row).toEqual({ due: true });
});

test('disable and enable do what toggle does', async () => {
  const { key } = await givenRetries();
  expect(await operate(given.context)(key, 'disable')).toBe('disabled');
  const read = await given.client.getWebhookSubscription(key);
  expect(read.subscription?.enabled).toBe(false);
  expect(await operate(given.context)(key, 'enable')).toBe('healthy');
});

test('a deleted subscription is not found', async () => {
  const key = { workspaceId: givenWorkspace(), id: 'gone' };
  for (const action of ['retryNow', 'disable', 'enable'] as const) {
    await expect(operate(given.context)(key, action)).rejects.toMatchObject({
      code: Code.NotFound,
    });
  }
});
