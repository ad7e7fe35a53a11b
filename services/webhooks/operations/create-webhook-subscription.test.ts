import { Code, ConnectError } from '@connectrpc/connect';
import { afterEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { content, givenSubscription, givenWorkspace, useService } from '../test/given.ts';

const given = useService();

afterEach(() => {
  given.told.failure = undefined;
  given.told.interests = [];
});

test('a new subscription is enabled, has a secret of its own, and returns its fields twice', async () => {
  const workspaceId = givenWorkspace();
  const { subscription } = await given.client.createWebhookSubscription({
    workspaceId,
    ...content,
    customEventFilters: { eventNames: ['orders/fulfilled'] },
    listIds: ['news', 'news'],
    source: 'zapier',
  });
  expect(subscription).toMatchObject({
    ...content,
    listIds: ['news'],
    customEventFilters: { goalTypes: [], eventNames: ['orders/fulfilled'] },
    settings: { eventTypes: content.eventTypes, listIds: ['news'], segmentIds: [] },
    enabled: true,
    source: 'zapier',
  });
  expect(subscription?.lastDeliveryAt).toBeUndefined();
  expect(subscription?.id).toMatch(/^[0-9a-f]{32}$/);
  expect(subscription?.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const other = await givenSubscription(given, workspaceId);
  expect(other.secret).not.toBe(subscription?.secret);
  const read = await given.client.getWebhookSubscription({ workspaceId, id: subscription?.id });
  expect(read.subscription).toEqual(subscription);
});

test('types and filters may be given in settings', async () => {
  const workspaceId = givenWorkspace();
  const { subscription } = await given.client.createWebhookSubscription({
    workspaceId,
    name: 'CRM',
    url: content.url,
    settings: {
      eventTypes: ['list.pending'],
      listIds: ['news'],
      customEventFilters: { goalTypes: ['purchase'] },
    },
  });
  expect(subscription).toMatchObject({
    eventTypes: ['list.pending'],
    listIds: ['news'],
    customEventFilters: { goalTypes: ['purchase'] },
  });
});

test('the secret is not readable in the database', async () => {
  const workspaceId = givenWorkspace();
  const { secret } = await givenSubscription(given, workspaceId);
  const rows = await query(
    given.context.store.fork(),
    'select * from subscriptions where workspace_id = $1',
    [workspaceId],
  );
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(secret.slice(6));
});

test.each([
  [{ name: '' }, 'name is required'],
  [{ url: '' }, 'URL is required'],
  [{ url: 'nonsense' }, 'invalid URL: it cannot be read'],
  [{ url: 'ftp://example.com/' }, 'URL must use http or https scheme'],
  [{ url: 'http://' }, 'URL must have a host'],
  [{ url: 'https://me:secret@example.com/' }, 'URL must not contain credentials'],
  [{ url: 'https://example.com/#here' }, 'URL must not contain fragment'],
  [{ url: 'https://10.0.0.1/' }, 'URL must not use a private or reserved address'],
  [{ url: 'http://[::1]/' }, 'URL must not use a private or reserved address'],
  [{ eventTypes: [] }, 'at least one event type is required'],
  [{ eventTypes: ['contact.*'] }, 'invalid event type: contact.*'],
])('create and update refuse %j', async (over, rawMessage) => {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId);
  const refused = { code: Code.InvalidArgument, rawMessage };
  const wrong = { workspaceId, ...content, ...over };
  await expect(given.client.createWebhookSubscription(wrong)).rejects.toMatchObject(refused);
  await expect(given.client.updateWebhookSubscription({ ...wrong, id })).rejects.toMatchObject(
    refused,
  );
  const { subscriptions } = await given.client.listWebhookSubscriptions({ workspaceId });
  expect(subscriptions).toMatchObject([content]);
});

test('producers know what a workspace listens to before create answers', async () => {
  const workspaceId = givenWorkspace();
  await givenSubscription(given, workspaceId);
  await givenSubscription(given, workspaceId, { eventTypes: ['contact.created', 'list.pending'] });
  expect(given.told.interests).toEqual([
    { producer: 'contacts', workspaceId, types: ['contact.created', 'contact.deleted'] },
    { producer: 'messages', workspaceId, types: ['email.sent'] },
    {
      producer: 'contacts',
      workspaceId,
      types: ['contact.created', 'contact.deleted', 'list.pending'],
    },
    { producer: 'messages', workspaceId, types: ['email.sent'] },
  ]);
  given.told.interests = [];
  await givenSubscription(given, workspaceId);
  expect(given.told.interests).toEqual([]);
});

test('create fails and leaves nothing while a producer cannot be reached', async () => {
  const workspaceId = givenWorkspace();
  given.told.failure = new ConnectError('down', Code.Unavailable);
  await expect(givenSubscription(given, workspaceId)).rejects.toMatchObject({
    code: Code.Unavailable,
  });
  given.told.failure = undefined;
  const { subscriptions } = await given.client.listWebhookSubscriptions({ workspaceId });
  expect(subscriptions).toEqual([]);
});

test('parallel changes of one workspace end with an interest in everything that they want', async () => {
  const workspaceId = givenWorkspace();
  const types = ['contact.created', 'contact.updated', 'list.pending', 'list.removed'];
  await Promise.all(
    types.map((type) => givenSubscription(given, workspaceId, { eventTypes: [type] })),
  );
  const last = given.told.interests.filter(({ producer }) => producer === 'contacts').at(-1);
  expect(last?.types).toEqual([...types, 'contact.deleted'].toSorted());
});

test('a repeat with the same Idempotency-Key makes no second one', async () => {
  const workspaceId = givenWorkspace();
  const client = given.withHeaders({ 'idempotency-key': 'once' });
  const first = await givenSubscription({ client }, workspaceId);
  expect(await givenSubscription({ client }, workspaceId)).toEqual(first);
  const { subscriptions } = await given.client.listWebhookSubscriptions({ workspaceId });
  expect(subscriptions).toHaveLength(1);
});

test('a workspace has at most 100', async () => {
  const workspaceId = givenWorkspace();
  await givenSubscription(given, workspaceId);
  await query(
    given.context.store.fork(),
    `insert into subscriptions
     select (json_populate_record(s, json_build_object('id', n::text))).*
     from subscriptions s, generate_series(1, 99) n where workspace_id = $1`,
    [workspaceId],
  );
  await expect(givenSubscription(given, workspaceId)).rejects.toMatchObject({
    code: Code.ResourceExhausted,
    rawMessage: expect.stringContaining('has 100 of at most 100 webhook subscriptions'),
  });
});

test.each([
  [{ listIds: ['news', 'gone'] }, 'list not found: gone'],
  [{ segmentIds: ['gone'] }, 'segment not found: gone'],
  [{ customEventFilters: { goalTypes: ['purchase', 'sale'] } }, 'invalid goal type: sale'],
])('filters for what does not exist are refused: %j', async (over, text) => {
  const workspaceId = givenWorkspace();
  await expect(
    given.client.createWebhookSubscription({ workspaceId, ...content, ...over }),
  ).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: text });
});

test('an update keeps a list that is gone since, and adds none', async () => {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId, { listIds: ['news'] });
  await query(
    given.context.store.fork(),
    `update subscriptions set list_ids = '{gone}' where id = $1`,
    [id],
  );
  const update = (listIds: string[]) =>
    given.client.updateWebhookSubscription({ workspaceId, id, ...content, listIds });
  expect((await update(['gone'])).subscription?.listIds).toEqual(['gone']);
  await update([]);
  await expect(update(['gone'])).rejects.toMatchObject({ code: Code.InvalidArgument });
});
