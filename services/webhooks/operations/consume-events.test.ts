import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { Client } from 'pg';
import { MatchMembersResponseSchema } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { EventSchema } from '#gen/postrider/events/v1/events_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { insertDeliveries } from '../matching/deliveries.ts';
import { deliveriesOf, sendEvents, setEndpoint, until } from '../test/deliveries.ts';
import {
  allThere,
  copySubscriptions,
  givenSubscription,
  givenWorkspace,
  useService,
} from '../test/given.ts';

/** Lists and segments of contacts, as the contacts service would answer, and the requests made. */
const contacts = {
  members: [] as [email: string, listId: string][],
  segmentMembers: [] as [email: string, segmentId: string][],
  asked: [] as { emails: string[]; listIds: string[]; segmentIds: string[] }[],
  failure: undefined as Error | undefined,
};

const given = useService({
  audience: {
    ...allThere,
    async matchMembers({ emails = [], listIds = [], segmentIds = [] }) {
      contacts.asked.push({ emails, listIds, segmentIds });
      if (contacts.failure) throw contacts.failure;
      return create(MatchMembersResponseSchema, {
        members: contacts.members
          .map(([email, id]) => ({ email: emails.indexOf(email), list: listIds.indexOf(id) }))
          .filter(({ email, list }) => email >= 0 && list >= 0),
        segmentMembers: contacts.segmentMembers
          .map(([email, id]) => ({ email: emails.indexOf(email), segment: segmentIds.indexOf(id) }))
          .filter(({ email, segment }) => email >= 0 && segment >= 0),
      });
    },
  },
});

type Filters = {
  eventTypes: string[];
  listIds?: string[];
  segmentIds?: string[];
  customEventFilters?: { goalTypes: string[]; eventNames: string[] };
};

/** Nobody listens at its address: these tests look at rows. */
async function givenListener(filters: Filters, workspaceId = givenWorkspace()) {
  const url = 'http://127.0.0.1:1/';
  const { id } = await givenSubscription(given, workspaceId, { url, ...filters });
  return { workspaceId, id };
}

const payloads = async (workspaceId: string) =>
  (await deliveriesOf(given, workspaceId)).map(({ payload }) => payload);

test('makes a delivery for each subscription that wants the type', async () => {
  const { workspaceId, id } = await givenListener({
    eventTypes: ['contact.created', 'list.removed'],
  });
  const other = await givenListener({ eventTypes: ['contact.created'] }, workspaceId);
  const off = await givenListener({ eventTypes: ['contact.created'] }, workspaceId);
  await setEndpoint(given, off.id, { enabled: false });
  await givenListener({ eventTypes: ['contact.created'] });
  await sendEvents(given, workspaceId, [{ contact: { email: 'a@example.com' } }]);
  await sendEvents(given, workspaceId, [{ email: 'a@example.com' }], { type: 'list.removed' });
  await sendEvents(given, workspaceId, [{ email: 'a@example.com' }], { type: 'list.pending' });
  const rows = await deliveriesOf(given, workspaceId);
  expect(rows.map((row) => `${row.event_type} ${row.subscription_id}`).toSorted()).toEqual(
    [`contact.created ${id}`, `contact.created ${other.id}`, `list.removed ${id}`].toSorted(),
  );
});

test('list and email events are filtered by their list', async () => {
  const eventTypes = ['list.subscribed', 'email.sent'];
  const { workspaceId } = await givenListener({ eventTypes, listIds: ['news'] });
  const events = [{ list_id: 'news' }, { list_id: 'other' }, { list_id: null }, {}];
  for (const type of eventTypes) await sendEvents(given, workspaceId, events, { type });
  expect(await payloads(workspaceId)).toEqual([{ list_id: 'news' }, { list_id: 'news' }]);
  expect(contacts.asked).toEqual([]);
});

test('events of contacts are filtered by the lists that the contact is in, but not its deletion', async () => {
  const eventTypes = ['contact.updated', 'contact.deleted', 'custom_event.created'];
  const { workspaceId } = await givenListener({ eventTypes, listIds: ['news', 'offers'] });
  contacts.members = [['a@example.com', 'offers']];
  const of = (email: string) => ({ contact: { email } });
  const both = [of('a@example.com'), of('b@example.com')];
  await sendEvents(given, workspaceId, both, { type: 'contact.updated' });
  expect(contacts.asked.at(-1)).toEqual({
    emails: ['a@example.com', 'b@example.com'],
    listIds: ['news', 'offers'],
    segmentIds: [],
  });
  await sendEvents(given, workspaceId, [of('b@example.com')], { type: 'contact.deleted' });
  const custom = ['a', 'b'].map((name) => ({ custom_event: { email: `${name}@example.com` } }));
  await sendEvents(given, workspaceId, custom, { type: 'custom_event.created' });
  const rows = await deliveriesOf(given, workspaceId);
  expect(new Map(rows.map(({ event_type, payload }) => [event_type, payload]))).toEqual(
    new Map<string, unknown>([
      ['contact.updated', of('a@example.com')],
      ['contact.deleted', of('b@example.com')],
      ['custom_event.created', custom[0]],
    ]),
  );
  expect(rows).toHaveLength(3);
});

test('while contacts is down a batch that needs it is refused as a whole, and may come again', async () => {
  const { workspaceId } = await givenListener({
    eventTypes: ['contact.created'],
    listIds: ['news'],
  });
  await givenListener({ eventTypes: ['contact.created'] }, workspaceId);
  contacts.members = [['a@example.com', 'news']];
  contacts.failure = new ConnectError('down', Code.Unavailable);
  const batchId = crypto.randomUUID();
  const send = () =>
    sendEvents(given, workspaceId, [{ contact: { email: 'a@example.com' } }], { batchId });
  await expect(send()).rejects.toThrow();
  expect(await deliveriesOf(given, workspaceId)).toEqual([]);
  contacts.failure = undefined;
  await send();
  expect(await deliveriesOf(given, workspaceId)).toHaveLength(2);
});

test('segment events are filtered by their segment', async () => {
  const eventTypes = ['segment.joined', 'segment.left'];
  const { workspaceId } = await givenListener({ eventTypes, segmentIds: ['vip'] });
  const events = [{ segment_id: 'vip' }, { segment_id: 'other' }];
  for (const type of eventTypes) await sendEvents(given, workspaceId, events, { type });
  expect(await payloads(workspaceId)).toEqual([{ segment_id: 'vip' }, { segment_id: 'vip' }]);
});

test('all other events are filtered by the segments that their contact is in, but not its deletion', async () => {
  const shapes: Record<string, (email: string) => object> = {
    'contact.updated': (email) => ({ contact: { email } }),
    'custom_event.created': (email) => ({ custom_event: { email } }),
    'list.subscribed': (email) => ({ email, list_id: 'news' }),
    'email.opened': (email) => ({ email, list_id: null }),
  };
  const eventTypes = [...Object.keys(shapes), 'contact.deleted'];
  const { workspaceId } = await givenListener({ eventTypes, segmentIds: ['vip', 'new'] });
  contacts.segmentMembers = [
    ['a@example.com', 'new'],
    ['b@example.com', 'other'],
  ];
  for (const [type, of] of Object.entries(shapes)) {
    await sendEvents(given, workspaceId, [of('a@example.com'), of('b@example.com'), {}], { type });
  }
  const gone = { contact: { email: 'b@example.com' } };
  await sendEvents(given, workspaceId, [gone], { type: 'contact.deleted' });
  const rows = await deliveriesOf(given, workspaceId);
  const expected = Object.entries(shapes).map(([type, of]) => [type, of('a@example.com')]);
  expect(new Map(rows.map(({ event_type, payload }) => [event_type, payload]))).toEqual(
    new Map([...expected, ['contact.deleted', gone]] as [string, object][]),
  );
  expect(rows).toHaveLength(5);
});

test('an event must pass the filters of both lists and segments', async () => {
  const eventTypes = ['contact.created', 'list.subscribed', 'segment.joined'];
  const filters = { eventTypes, listIds: ['news'], segmentIds: ['vip'] };
  const { workspaceId } = await givenListener(filters);
  contacts.members = [
    ['both@example.com', 'news'],
    ['list@example.com', 'news'],
  ];
  contacts.segmentMembers = [
    ['both@example.com', 'vip'],
    ['segment@example.com', 'vip'],
  ];
  const names = ['both', 'list', 'segment'].map((name) => `${name}@example.com`);
  await sendEvents(
    given,
    workspaceId,
    names.map((email) => ({ contact: { email } })),
  );
  const joinedList = names.map((email) => ({ email, list_id: 'news' }));
  await sendEvents(given, workspaceId, joinedList, { type: 'list.subscribed' });
  const joined = names.map((email) => ({ email, segment_id: 'vip' }));
  await sendEvents(given, workspaceId, joined, { type: 'segment.joined' });
  const rows = await deliveriesOf(given, workspaceId);
  const found = rows.map(({ event_type, payload }) => {
    const [, name] = /"email":"(\w+)@/.exec(JSON.stringify(payload)) ?? [];
    return `${event_type} ${name}`;
  });
  expect(found.toSorted()).toEqual([
    'contact.created both',
    'list.subscribed both',
    'list.subscribed segment',
    'segment.joined both',
    'segment.joined list',
  ]);
});

test('custom events pass both filters, in exact case; other types ignore them', async () => {
  const type = 'custom_event.created';
  const customEventFilters = { goalTypes: ['purchase'], eventNames: ['orders/fulfilled'] };
  const { workspaceId } = await givenListener({
    eventTypes: [type, 'contact.created'],
    customEventFilters,
  });
  const event = (event_name: string, goal_type: string | null) => ({
    custom_event: {
      ...{ event_name, external_id: '1', email: 'a@example.com', properties: { goal_type: 'x' } },
      ...{ occurred_at: '2030-01-01T12:00:00Z', source: 'api', integration_id: null },
      ...{ goal_name: null, goal_type, goal_value: goal_type && 12.5, deleted_at: null },
      ...{ created_at: '2030-01-01T12:00:00Z', updated_at: '2030-01-01T12:00:00Z' },
    },
  });
  await sendEvents(
    given,
    workspaceId,
    [
      event('orders/fulfilled', 'purchase'),
      event('orders/fulfilled', 'Purchase'),
      event('orders/fulfilled', null),
      event('orders/created', 'purchase'),
    ],
    { type },
  );
  await sendEvents(given, workspaceId, [{ contact: {} }]);
  const found = await payloads(workspaceId);
  expect(found).toHaveLength(2);
  expect(found).toContainEqual(event('orders/fulfilled', 'purchase'));
  expect(found).toContainEqual({ contact: {} });
});

test.each([
  ['an object without names', {}],
  ['a text', 'orders'],
  ['names that are no list', { goal_types: 5, event_names: { a: 1 } }],
])('events reach others beside a subscription whose filter is %s', async (_, filter) => {
  const eventTypes = ['custom_event.created'];
  const customEventFilters = { goalTypes: ['purchase'], eventNames: [] };
  const broken = await givenListener({ eventTypes, customEventFilters });
  const { workspaceId } = broken;
  const other = await givenListener({ eventTypes, customEventFilters }, workspaceId);
  await query(
    given.context.store.fork(),
    'update subscriptions set custom_event_filters = $2 where id = $1',
    [broken.id, JSON.stringify(filter)],
  );
  const data = { custom_event: { email: 'a@example.com', goal_type: 'purchase' } };
  await sendEvents(given, workspaceId, [data], { type: 'custom_event.created' });
  const deliveries = await deliveriesOf(given, workspaceId);
  expect(deliveries.map(({ subscription_id }) => subscription_id)).toContain(other.id);
});

test('events reach subscriptions beside those with odd data', async () => {
  const eventTypes = ['contact.updated'];
  const { workspaceId } = await givenListener({ eventTypes, listIds: ['news'] });
  await givenListener({ eventTypes }, workspaceId);
  const good = { contact: { email: 'a@example.com' } };
  contacts.members = [['a@example.com', 'news']];
  const odd = [null, [], 5, '', {}, { contact: null }, { contact: { email: ['a@example.com'] } }];
  await sendEvents(given, workspaceId, [...(odd as object[]), good], { type: 'contact.updated' });
  const matched = (await payloads(workspaceId)).filter(
    (payload) => JSON.stringify(payload) === JSON.stringify(good),
  );
  expect(matched).toHaveLength(2);
});

test('a payload over 256 KiB is kept as failed, without the payload', async () => {
  const { workspaceId } = await givenListener({ eventTypes: ['contact.created'] });
  const fits = { text: 'x'.repeat(256 * 1_024 - '{"text":""}'.length) };
  await sendEvents(given, workspaceId, [fits, { text: `${fits.text}y` }]);
  const rows = await deliveriesOf(given, workspaceId);
  expect(rows.find(({ status }) => status === 'failed')).toMatchObject({
    payload: {},
    attempts: 0,
    next_attempt_at: null,
    last_error: 'the payload is larger than 256 KiB',
  });
  expect(rows.find(({ status }) => status === 'pending')?.payload).toEqual(fits);
});

test('the payload of an event is stored once, however many subscriptions want it', async () => {
  const { workspaceId } = await givenListener({ eventTypes: ['contact.created'] });
  for (let more = 0; more < 4; more += 1) {
    await givenListener({ eventTypes: ['contact.created'] }, workspaceId);
  }
  const sent = [{ contact: { first_name: 'x'.repeat(1_000) } }, { contact: { first_name: 'y' } }];
  await sendEvents(given, workspaceId, sent);
  const [row] = await query<{ bytes: number }>(
    given.context.store.fork(),
    `select sum(octet_length(payload::text))::int as bytes from (
       select workspace_id, payload from deliveries
       union all
       select workspace_id, payload from events
     ) kept where workspace_id = $1`,
    [workspaceId],
  );
  expect(row?.bytes).toBe(sent.reduce((bytes, each) => bytes + JSON.stringify(each).length, 0));
  expect((await payloads(workspaceId)).filter((payload) => payload !== null)).toHaveLength(10);
});

test('a batch for many subscriptions is stored in portions, once for its id', async () => {
  const { workspaceId, id } = await givenListener({ eventTypes: ['contact.created'] });
  const subscriptionIds = Array.from({ length: 40 }, (_, number) => `${id}-${number}`);
  const events = Array.from({ length: 300 }, (_, number) =>
    create(EventSchema, { type: 'contact.created', dataJson: `{"number":${number}}` }),
  );
  const matches = subscriptionIds.flatMap((subscriptionId) =>
    events.map((_, place) => ({ place, subscriptionId, isWaiting: false })),
  );
  const { store } = given.context;
  const batch = { workspaceId, batchId: crypto.randomUUID(), events };
  for (let time = 0; time < 2; time += 1) {
    await insertDeliveries(store, [{ batch, matches }], { now: given.clock.now });
  }
  const [row] = await query<{ deliveries: number; events: number; same: number }>(
    store.fork(),
    `select count(*)::int as deliveries, count(distinct left(id::text, 32))::int as events,
       count(distinct created_at)::int as same
     from deliveries where workspace_id = $1`,
    [workspaceId],
  );
  expect(row).toEqual({ deliveries: 12_000, events: 300, same: 1 });
});

test('large batches of many workspaces leave connections to the events of others', async () => {
  const large = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const { workspaceId } = await givenListener({ eventTypes: ['contact.created'] });
      await copySubscriptions(given, workspaceId, 11);
      return { workspaceId, batchId: crypto.randomUUID() };
    }),
  );
  const other = await givenListener({ eventTypes: ['contact.created'] });
  const client = new Client({ connectionString: given.context.store.url });
  await client.connect();
  try {
    // The statements of the large batches wait for the end of this transaction.
    await client.query('begin');
    await client.query('insert into consumed_batches (batch_id) select unnest($1::uuid[])', [
      large.map(({ batchId }) => batchId),
    ]);
    const events = Array.from({ length: 500 }, () => ({}));
    const stored = large.map(({ workspaceId, batchId }) =>
      sendEvents(given, workspaceId, events, { batchId }),
    );
    const waiting = async () => {
      const { rows } = await client.query<{ count: number }>(
        "select count(*)::int as count from pg_locks where not granted and locktype = 'transactionid'",
      );
      return rows[0]?.count ?? 0;
    };
    await until(async () => (await waiting()) >= 4);
    await sendEvents(given, other.workspaceId, [{ number: 1 }]);
    expect(await payloads(other.workspaceId)).toEqual([{ number: 1 }]);
    expect(await waiting()).toBe(4);
    // So they all came before, and nothing is left to store.
    await client.query('commit');
    await Promise.all(stored);
  } finally {
    await client.end();
  }
});
