import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { payloadTooLarge } from '../delivery.ts';
import { clearDeliveries } from '../tasks/clear-deliveries.ts';
import { forgetDeliveries } from '../tasks/forget-deliveries.ts';
import { givenDeliveries, givenSubscription, givenWorkspace, useService } from '../test/given.ts';

const given = useService();
const minutesAgo = (minutes: number) => new Date(given.clock.now.getTime() - minutes * 60_000);

async function givenHistory() {
  const workspaceId = givenWorkspace();
  const { id: a } = await givenSubscription(given, workspaceId);
  const { id: b } = await givenSubscription(given, workspaceId);
  const [first, second, third, fourth] = await givenDeliveries(given, workspaceId, [
    { subscriptionId: a, createdAt: minutesAgo(4), status: 'failed', attempts: 10 },
    { subscriptionId: a, createdAt: minutesAgo(3), status: 'delivered', attempts: 1 },
    { subscriptionId: b, createdAt: minutesAgo(2), status: 'failed', attempts: 10 },
    { subscriptionId: a, createdAt: minutesAgo(1), eventType: 'email.sent' },
  ]);
  return { workspaceId, a, b, ids: [first, second, third, fourth] };
}

test('deliveries are listed newest first, by page, with their number', async () => {
  const { workspaceId, ids } = await givenHistory();
  const page = await given.client.listWebhookDeliveries({ workspaceId, limit: 2, offset: 1 });
  expect(page).toMatchObject({ total: 4, limit: 2, offset: 1 });
  expect(page.deliveries.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
  const all = await given.client.listWebhookDeliveries({ workspaceId });
  expect(all.limit).toBe(20);
  expect(all.deliveries.at(-1)?.nextAttemptAt).toBeUndefined();
  expect(all.deliveries.at(-1)).toMatchObject({
    status: 'failed',
    attempts: 10,
    maxAttempts: 10,
    payload: { email: 'a@example.com' },
    eventType: 'contact.created',
    occurredAt: timestampFromDate(minutesAgo(4)),
  });
});

test('deliveries are filtered by id, subscription, status, type and time', async () => {
  const { workspaceId, a, ids } = await givenHistory();
  const listed = async (filter: object) => {
    const page = await given.client.listWebhookDeliveries({ workspaceId, ...filter });
    expect(page.total).toBe(page.deliveries.length);
    return page.deliveries.map(({ id }) => id);
  };
  expect(await listed({ id: ids[1] })).toEqual([ids[1]]);
  expect(await listed({ subscriptionId: a })).toEqual([ids[3], ids[1], ids[0]]);
  expect(await listed({ status: 'failed' })).toEqual([ids[2], ids[0]]);
  expect(await listed({ eventType: 'email.sent' })).toEqual([ids[3]]);
  const since = timestampFromDate(minutesAgo(3));
  const until = timestampFromDate(minutesAgo(2));
  expect(await listed({ since, until })).toEqual([ids[1]]);
  expect(await listed({ subscriptionId: a, status: 'pending' })).toEqual([ids[3]]);
  expect(await listed({ subscriptionId: 'other' })).toEqual([]);
});

test('the time of a delivery divides a list, also within a millisecond', async () => {
  const workspaceId = givenWorkspace();
  const { id: subscriptionId } = await givenSubscription(given, workspaceId);
  const ids = await givenDeliveries(given, workspaceId, [{ subscriptionId }, { subscriptionId }]);
  await query(
    given.context.store.fork(),
    `update deliveries set occurred_at = created_at + interval '7 microseconds',
       created_at = created_at + case id when $2 then interval '300 microseconds' else interval '700 microseconds' end
     where workspace_id = $1`,
    [workspaceId, ids[0]],
  );
  const listed = async (filter: object) => {
    const page = await given.client.listWebhookDeliveries({ workspaceId, ...filter });
    return page.deliveries;
  };
  const [newest] = await listed({ limit: 1 });
  expect(newest).toMatchObject({ id: ids[1], occurredAt: { nanos: 7_000 } });
  const since = (await listed({ since: newest?.createdAt })).map(({ id }) => id);
  const until = (await listed({ until: newest?.createdAt })).map(({ id }) => id);
  expect({ since, until }).toEqual({ since: [ids[1]], until: [ids[0]] });
});

test.each([
  [{ limit: 0 }, 'limit must be between 1 and 100'],
  [{ limit: 101 }, 'limit must be between 1 and 100'],
  [{ offset: -1 }, 'offset must be between 0 and 100000'],
  [{ status: 'lost' }, 'status must be pending, delivered, failed or waiting'],
  [{ id: 'lost' }, 'id must be a UUID'],
])('the page %j is refused', async (over, rawMessage) => {
  const request = { workspaceId: givenWorkspace(), ...over };
  await expect(given.client.listWebhookDeliveries(request)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage,
  });
});

test('redeliver makes one failed delivery pending again, under its id', async () => {
  const { workspaceId, a, ids } = await givenHistory();
  const answer = await given.client.redeliverWebhooks({ workspaceId, id: a, deliveryId: ids[0] });
  expect(answer.redelivered).toBe(1);
  const { deliveries } = await given.client.listWebhookDeliveries({ workspaceId });
  const again = deliveries.find(({ id }) => id === ids[0]);
  expect(again).toMatchObject({ status: 'pending', attempts: 0 });
  expect(again?.nextAttemptAt && timestampDate(again.nextAttemptAt)).toEqual(given.clock.now);
});

test('redeliver makes all failed ones of a subscription pending that are young enough', async () => {
  const { workspaceId, a, b } = await givenHistory();
  const redelivered = async (id: string, minutes: number) => {
    const since = timestampFromDate(minutesAgo(minutes));
    return (await given.client.redeliverWebhooks({ workspaceId, id, since })).redelivered;
  };
  expect(await redelivered(a, 3)).toBe(0);
  expect(await redelivered(a, 5)).toBe(1);
  expect(await redelivered(a, 5)).toBe(0);
  expect(await redelivered(b, 5)).toBe(1);
});

test('redeliver refuses what has not failed, is not there, or was never stored', async () => {
  const { workspaceId, a, ids } = await givenHistory();
  const [large] = await givenDeliveries(given, workspaceId, [
    { subscriptionId: a, status: 'failed', lastError: payloadTooLarge },
  ]);
  for (const deliveryId of [ids[1], ids[2], large, crypto.randomUUID(), 'nonsense']) {
    const call = given.client.redeliverWebhooks({ workspaceId, id: a, deliveryId });
    await expect(call).rejects.toMatchObject({ code: Code.NotFound });
  }
  const both = { deliveryId: ids[0], since: timestampFromDate(minutesAgo(9)) };
  for (const wrong of [{}, both]) {
    const call = given.client.redeliverWebhooks({ workspaceId, id: a, ...wrong });
    await expect(call).rejects.toMatchObject({ code: Code.InvalidArgument });
  }
});

test('deliveries are cleared when they are older than their workspace keeps them', async () => {
  const days: Record<string, number | undefined> = {};
  const { context } = given;
  const getSettings = async ({ workspaceId }: { workspaceId?: string }) => ({
    settings: { webhookRetentionDays: days[workspaceId ?? ''] },
  });
  const { task: clear } = clearDeliveries(
    { ...context, workspaces: { getSettings: getSettings as never } },
    { warn: (entry: unknown) => Promise.reject(entry) } as never,
  );
  const left = async (workspaceId: string) =>
    (await given.client.listWebhookDeliveries({ workspaceId })).total;
  const dayMinutes = 24 * 60;
  const workspaces = [givenWorkspace(), givenWorkspace()];
  for (const workspaceId of workspaces) {
    const { id: subscriptionId } = await givenSubscription(given, workspaceId);
    await givenDeliveries(given, workspaceId, [
      { subscriptionId, createdAt: minutesAgo(31 * dayMinutes) },
      { subscriptionId, createdAt: minutesAgo(8 * dayMinutes) },
      { subscriptionId, createdAt: minutesAgo(1) },
    ]);
  }
  days[workspaces[1]!] = 7;
  await clear();
  expect(await Promise.all(workspaces.map(left))).toEqual([2, 1]);
});

test('the deliveries of a deleted subscription are forgotten, and no others', async () => {
  const { workspaceId, a, ids } = await givenHistory();
  await forgetDeliveries(given.context)({ workspaceId, id: a });
  const { deliveries } = await given.client.listWebhookDeliveries({ workspaceId });
  expect(deliveries.map(({ id }) => id)).toEqual([ids[2]]);
});

test.each([253_402_300_800n, -62_135_596_801n, 10n ** 15n])(
  'a time that no calendar has is refused: %s s',
  async (seconds) => {
    const refused = {
      code: Code.InvalidArgument,
      rawMessage: expect.stringContaining('must lie in the years 1 to 9999'),
    };
    const { workspaceId, a: id } = await givenHistory();
    for (const name of ['since', 'until']) {
      await expect(
        given.client.listWebhookDeliveries({ workspaceId, [name]: { seconds } }),
      ).rejects.toMatchObject(refused);
    }
    await expect(
      given.client.redeliverWebhooks({ workspaceId, id, since: { seconds } }),
    ).rejects.toMatchObject(refused);
  },
);
