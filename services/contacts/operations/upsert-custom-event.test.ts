import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import type { UpsertCustomEventRequestSchema } from '#gen/postrider/contacts/v1/custom_events_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { givenReader, takeTouches } from '../test/changes.ts';
import { takeEvents } from '../test/events.ts';
import { givenLists, useService } from '../test/given.ts';

const given = useService();
const email = 'ann@example.com';
const at = (text: string) => timestampFromDate(new Date(text));
type Over = MessageInitShape<typeof UpsertCustomEventRequestSchema>;

async function upsert(workspaceId: string, over: Over = {}) {
  const request = { workspaceId, email, eventName: 'order', externalId: '1', ...over };
  const { event } = await given.customEvents.upsertCustomEvent(request);
  if (!event) throw new Error('no event');
  return event;
}

const told = async (workspaceId: string) =>
  (await takeEvents(given, { consumer: 'webhooks', workspaceId })).filter(({ type }) =>
    type.startsWith('custom_event.'),
  );

test('an event is answered as it is stored, and creates its contact', async () => {
  const workspaceId = await givenLists(given);
  const event = await upsert(workspaceId, {
    email: ' Ann@Example.com ',
    eventName: 'orders/paid-1.x_y',
    externalId: 'A 1 é',
    properties: { total: 1.5, items: [{ sku: 'x', gift: null }] },
    occurredAt: at('2029-12-31T23:59:59.123Z'),
    integrationId: 'shop',
    goalName: 'Sale',
    goalType: 'purchase',
    goalValue: 19.999,
  });
  expect(event).toMatchObject({
    email,
    eventName: 'orders/paid-1.x_y',
    externalId: 'A 1 é',
    properties: { total: 1.5, items: [{ sku: 'x', gift: null }] },
    occurredAt: at('2029-12-31T23:59:59.123Z'),
    source: 'api',
    integrationId: 'shop',
    goalName: 'Sale',
    goalType: 'purchase',
    goalValue: 20,
    createdAt: at('2030-01-01T12:00:00Z'),
    updatedAt: at('2030-01-01T12:00:00Z'),
  });
  expect(event.deletedAt).toBeUndefined();
  const key = { workspaceId, eventName: 'orders/paid-1.x_y', externalId: 'A 1 é' };
  expect((await given.customEvents.getCustomEvent(key)).event).toEqual(event);
  const webhooks = await takeEvents(given, { consumer: 'webhooks', workspaceId });
  expect(webhooks.map(({ type }) => type)).toEqual(['contact.created', 'custom_event.created']);
  expect(webhooks[1]?.data).toEqual({
    custom_event: {
      event_name: 'orders/paid-1.x_y',
      external_id: 'A 1 é',
      email,
      properties: { total: 1.5, items: [{ sku: 'x', gift: null }] },
      occurred_at: '2029-12-31T23:59:59.123Z',
      source: 'api',
      integration_id: 'shop',
      goal_name: 'Sale',
      goal_type: 'purchase',
      goal_value: 20,
      deleted_at: null,
      created_at: '2030-01-01T12:00:00Z',
      updated_at: '2030-01-01T12:00:00Z',
    },
  });
});

test('an event without a time happened now, and its contact stays as it is', async () => {
  const workspaceId = await givenLists(given);
  await given.contacts.upsertContact({ workspaceId, contact: { email, firstName: 'Ann' } });
  await takeEvents(given, { consumer: 'webhooks', workspaceId });
  expect(await upsert(workspaceId)).toMatchObject({
    properties: {},
    occurredAt: timestampFromDate(given.clock.now),
  });
  const webhooks = await takeEvents(given, { consumer: 'webhooks', workspaceId });
  expect(webhooks.map(({ type }) => type)).toEqual(['custom_event.created']);
});

test('only what happened later changes an event, and goals are kept unless they are given', async () => {
  const workspaceId = await givenLists(given);
  const first = {
    occurredAt: at('2029-06-02T00:00:00Z'),
    properties: { v: 1 },
    integrationId: 'a',
  };
  await upsert(workspaceId, { ...first, goalType: 'lead', goalName: 'G', goalValue: 5 });
  await told(workspaceId);
  for (const occurredAt of [at('2029-06-01T00:00:00Z'), first.occurredAt]) {
    const kept = await upsert(workspaceId, { occurredAt, properties: { v: 2 }, goalValue: 9 });
    expect(kept).toMatchObject({ ...first, goalValue: 5, source: 'api' });
  }
  expect(await told(workspaceId)).toEqual([]);
  const later = { occurredAt: at('2029-06-03T00:00:00Z'), properties: { v: 3 } };
  const changed = await upsert(workspaceId, { ...later, goalValue: -7.25 });
  expect(changed).toMatchObject({ ...later, goalType: 'lead', goalName: 'G', goalValue: -7.25 });
  expect(changed.integrationId).toBeUndefined();
  expect(await told(workspaceId)).toMatchObject([
    {
      type: 'custom_event.updated',
      data: { custom_event: { goal_type: 'lead', properties: { v: 3 } } },
    },
  ]);
});

test('a delete takes effect whatever its time, hides the event, and is published once; the next upsert restores it', async () => {
  const workspaceId = await givenLists(given);
  const key = { workspaceId, eventName: 'order', externalId: '1' };
  await upsert(workspaceId, { occurredAt: at('2029-06-02T00:00:00Z') });
  await told(workspaceId);
  const deletedAt = at('2029-07-01T00:00:00Z');
  const early = { occurredAt: at('2029-06-01T00:00:00Z') };
  expect(await upsert(workspaceId, { ...early, deletedAt })).toMatchObject({ deletedAt });
  await upsert(workspaceId, { deletedAt });
  expect(await told(workspaceId)).toMatchObject([
    {
      type: 'custom_event.deleted',
      data: { custom_event: { deleted_at: '2029-07-01T00:00:00Z' } },
    },
  ]);
  await expect(given.customEvents.getCustomEvent(key)).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'Custom event not found',
  });
  expect((await given.customEvents.listCustomEvents({ workspaceId, email })).events).toEqual([]);
  expect((await upsert(workspaceId, early)).deletedAt).toBeUndefined();
  expect(await told(workspaceId)).toMatchObject([{ type: 'custom_event.created' }]);
  await given.customEvents.getCustomEvent(key);
});

test('an event that begins deleted is published as deleted, and creates no contact', async () => {
  const workspaceId = await givenLists(given);
  await upsert(workspaceId, { deletedAt: at('2029-07-01T00:00:00Z') });
  expect(await told(workspaceId)).toMatchObject([{ type: 'custom_event.deleted' }]);
  expect(await given.contacts.countContacts({ workspaceId })).toMatchObject({ totalContacts: 0 });
});

test('events touch their name and goals, of the contact before and after', async () => {
  const workspaceId = await givenLists(given);
  await givenReader(given, workspaceId, 'event.order', 'goal');
  await upsert(workspaceId);
  expect(await takeTouches(given, workspaceId)).toEqual([`${email}: * event.order`]);
  const later = { occurredAt: at('2030-01-01T13:00:00Z') };
  await upsert(workspaceId, { ...later, email: 'bob@example.com', goalType: 'lead' });
  expect(await takeTouches(given, workspaceId)).toEqual([
    `${email}: event.order goal`,
    'bob@example.com: * event.order goal',
  ]);
  await upsert(workspaceId, { ...later, email: 'bob@example.com', goalType: 'lead' });
  expect(await takeTouches(given, workspaceId)).toEqual([]);
  await upsert(workspaceId, { email: 'bob@example.com', deletedAt: at('2030-01-01T13:00:00Z') });
  expect(await takeTouches(given, workspaceId)).toEqual(['bob@example.com: event.order goal']);
});

const long = (length: number) => 'x'.repeat(length);

test.each<[string, Over, string]>([
  ['email', { email: ' ' }, 'email is required'],
  ['email', { email: 'nobody' }, 'invalid email format'],
  ['event_name', { eventName: '' }, 'event_name is required'],
  ['event_name', { eventName: long(101) }, 'event_name must be 100 characters or less'],
  [
    'event_name',
    { eventName: 'Order' },
    'event_name must contain only lowercase letters, numbers, underscores, dots, and slashes',
  ],
  ['external_id', { externalId: '' }, 'external_id is required'],
  ['external_id', { externalId: long(256) }, 'external_id must be 255 characters or less'],
  ['external_id', { externalId: 'a\0' }, 'external_id holds text that can not be stored'],
  ['properties', { properties: { a: long(65_536) } }, 'properties must be at most 64 KiB'],
  // PostgreSQL writes all digits of a number.
  [
    'properties',
    { properties: { a: Array.from({ length: 300 }, () => 1e300) } },
    'properties must be at most 64 KiB',
  ],
  ['properties', { properties: { 'a\0': 1 } }, 'properties holds text that can not be stored'],
  [
    'occurred_at',
    { occurredAt: at('2030-01-02T12:00:00.001Z') },
    'occurred_at must be at most a day ahead',
  ],
  [
    'occurred_at',
    { occurredAt: { seconds: -62_135_596_801n } },
    'occurred_at must lie in the years 1 to 9999',
  ],
  [
    'occurred_at',
    { occurredAt: { seconds: 8_640_000_000_000n } },
    'occurred_at must lie in the years 1 to 9999',
  ],
  ['integration_id', { integrationId: long(65) }, 'integration_id must be 64 characters or less'],
  ['goal_name', { goalName: long(101) }, 'goal_name must be 100 characters or less'],
  [
    'goal_type',
    { goalType: 'conversion' },
    'goal_type must be one of: [purchase subscription lead signup booking trial other]',
  ],
  ['goal_value', { goalType: 'purchase' }, `goal_value is required for goal_type 'purchase'`],
  [
    'goal_value',
    { goalType: 'subscription' },
    `goal_value is required for goal_type 'subscription'`,
  ],
  ['goal_value', { goalValue: Number.NaN }, 'goal_value must be a finite number'],
  ['goal_value', { goalValue: -1e300 }, 'goal_value must be below 10000000000000'],
  ['goal_value', { goalValue: 9_999_999_999_999.998 }, 'goal_value must be below 10000000000000'],
  [
    'deleted_at',
    { deletedAt: { seconds: -62_135_596_801n } },
    'deleted_at must lie in the years 1 to 9999',
  ],
])('a wrong %s is refused (%#)', async (field, over, text) => {
  const workspaceId = await givenLists(given);
  const error = await upsert(workspaceId, over).catch((caught) => caught);
  expect(error).toMatchObject({ code: Code.InvalidArgument, rawMessage: text });
  expect(
    JSON.stringify(error.details, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
  ).toContain(field);
  expect(await given.contacts.countContacts({ workspaceId })).toMatchObject({ totalContacts: 0 });
});

test.each([
  [-0, 0],
  [-0.001, 0],
  [1.005, 1.01],
  [1e-7, 0],
  [9_999_999_999_999.99, 9_999_999_999_999.99],
  [-9_999_999_999_999.99, -9_999_999_999_999.99],
])('the goal value %d is stored as %d', async (goalValue, stored) => {
  const workspaceId = await givenLists(given);
  expect((await upsert(workspaceId, { goalValue })).goalValue).toBe(stored);
});

test('workspaces stay apart, though they share names and external ids', async () => {
  const [mine, theirs] = [await givenLists(given), await givenLists(given)];
  await upsert(mine, { properties: { of: 'mine' } });
  const other = await upsert(theirs, { properties: { of: 'theirs' } });
  expect(other.properties).toEqual({ of: 'theirs' });
  const key = { workspaceId: mine, eventName: 'order', externalId: '1' };
  const { event } = await given.customEvents.getCustomEvent(key);
  expect(event?.properties).toEqual({ of: 'mine' });
});

test('parallel upserts of one new key by different contacts end in the latest, published as one creation and changes', async () => {
  const workspaceId = await givenLists(given);
  const people = Array.from({ length: 8 }, (_, number) => number);
  await Promise.all(
    people.map((number) =>
      upsert(workspaceId, {
        email: `p${number}@example.com`,
        occurredAt: at(`2029-01-01T00:00:0${number}Z`),
      }),
    ),
  );
  const key = { workspaceId, eventName: 'order', externalId: '1' };
  const { event } = await given.customEvents.getCustomEvent(key);
  expect(event?.email).toBe('p7@example.com');
  const types = (await told(workspaceId)).map(({ type }) => type);
  expect(types.filter((type) => type === 'custom_event.created')).toHaveLength(1);
  const [row] = await query<{ count: number }>(
    given.context.store.fork(),
    'select count(*)::int as count from custom_events where workspace_id = $1',
    [workspaceId],
  );
  expect(row?.count).toBe(1);
});
