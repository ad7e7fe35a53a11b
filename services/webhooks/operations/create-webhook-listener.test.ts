import { Code } from '@connectrpc/connect';
import { afterEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { eventTypes } from '../input/event-types.ts';
import { givenService, givenWorkspace, useService } from '../test/given.ts';
import { givenListener, listenersBy } from '../test/listeners.ts';

const given = useService();
const full = { read: true, write: true };
const minuteMs = 60_000;

afterEach(() => {
  given.told.interests = [];
});

test('a listener has its types, and ends in five minutes', async () => {
  const workspaceId = givenWorkspace();
  const { id, eventTypes: types, expiresAt } = await givenListener(given, workspaceId);
  expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(types).toEqual(['contact.created', 'email.sent']);
  expect(Number(expiresAt?.seconds) * 1_000 - given.clock.now.getTime()).toBe(5 * minuteMs);
  expect(given.told.interests).toContainEqual({
    ...{ producer: 'contacts', workspaceId },
    types: ['contact.created', 'contact.deleted'],
  });
});

test('its times are those of the database, to the microsecond', async () => {
  const workspaceId = givenWorkspace();
  const { store } = given.context;
  const { listeners, context } = await givenService({ store, databaseTime: () => undefined });
  await context.egress.close();
  const { listener } = await listeners.createWebhookListener({ workspaceId });
  const [row] = await query<{ micros: number }>(
    store.fork(),
    `select extract(microseconds from created_at)::int % 1000000 as micros from listeners where workspace_id = $1`,
    [workspaceId],
  );
  expect(listener?.createdAt?.nanos).toBe((row?.micros ?? 0) * 1_000);
  expect(listener?.expiresAt?.nanos).toBe((row?.micros ?? 0) * 1_000);
});

test('without types it has all that the caller may read', async () => {
  const workspaceId = givenWorkspace();
  const { listener } = await given.listeners.createWebhookListener({ workspaceId });
  expect(listener?.eventTypes).toEqual(eventTypes);
  const reader = listenersBy(given, { webhooks: full, message_history: { read: true } });
  const { listener: own } = await reader.createWebhookListener({ workspaceId });
  expect(own?.eventTypes).toEqual(eventTypes.filter((type) => type.startsWith('email.')));
});

test('types that are unknown, or that the caller may not read, are refused', async () => {
  const workspaceId = givenWorkspace();
  await expect(
    given.listeners.createWebhookListener({ workspaceId, eventTypes: ['contact.lost'] }),
  ).rejects.toThrow('invalid event type: contact.lost');
  const reader = listenersBy(given, { webhooks: full, message_history: { read: true } });
  await expect(
    reader.createWebhookListener({ workspaceId, eventTypes: ['contact.created'] }),
  ).rejects.toMatchObject({ code: Code.PermissionDenied });
  await expect(
    listenersBy(given, { webhooks: full }).createWebhookListener({ workspaceId }),
  ).rejects.toThrow('at least one event type is required');
});

test('the eleventh listener of a workspace is refused until one ends, and other workspaces have theirs', async () => {
  const workspaceId = givenWorkspace();
  const ten = await Promise.all(
    Array.from({ length: 10 }, () => givenListener(given, workspaceId)),
  );
  const eleventh = givenListener(given, workspaceId);
  await expect(eleventh).rejects.toMatchObject({ code: Code.ResourceExhausted });
  await givenListener(given, givenWorkspace());
  await ten[0]?.end();
  await givenListener(given, workspaceId);
});

test('the hundred-and-first listener within an hour is refused', async () => {
  const workspaceId = givenWorkspace();
  for (let count = 0; count < 100; count += 1)
    await (await givenListener(given, workspaceId)).end();
  const next = givenListener(given, workspaceId);
  await expect(next).rejects.toMatchObject({ code: Code.ResourceExhausted });
});
