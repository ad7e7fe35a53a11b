import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import type { CustomEventInputSchema } from '#gen/postrider/contacts/v1/custom_events_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { takeEvents } from '../test/events.ts';
import { givenLists, useService } from '../test/given.ts';

const given = useService();
type Row = MessageInitShape<typeof CustomEventInputSchema>;
const at = (text: string) => timestampFromDate(new Date(text));

const event = (over: Row): Row => ({ email: 'ann@example.com', eventName: 'order', ...over });
const importAll = (workspaceId: string, events: Row[]) =>
  given.customEvents.importCustomEvents({ workspaceId, events });
const actions = async (workspaceId: string, events: Row[]) =>
  (await importAll(workspaceId, events)).results.map(({ action, error }) => error ?? action);

test('each row is answered in order with its own reason, and the good ones are written', async () => {
  const workspaceId = await givenLists(given);
  const answer = await importAll(workspaceId, [
    event({ externalId: '1', email: 'ANN@example.com' }),
    event({ externalId: '', source: 'shop' }),
    event({ externalId: '2', email: 'nobody' }),
    event({ externalId: '3', source: 'x'.repeat(51) }),
    event({ externalId: '4', rowError: 'goal_value must be a number' }),
    event({ externalId: '5', goalType: 'purchase' }),
    event({ externalId: '6', source: 'shop', deletedAt: at('2029-01-01T00:00:00Z') }),
    event({ externalId: '7', properties: { a: Number.NaN } }),
    event({ externalId: '8', source: 'shop', email: 'bob@example.com' }),
  ]);
  expect(
    answer.results.map(({ externalId, action, error }) => [externalId, error ?? action]),
  ).toEqual([
    ['1', 'create'],
    ['', 'external_id is required'],
    ['2', 'invalid email format'],
    ['3', 'source must be 50 characters or less'],
    ['4', 'goal_value must be a number'],
    ['5', `goal_value is required for goal_type 'purchase'`],
    ['6', 'delete'],
    ['7', 'properties must hold finite numbers only'],
    ['8', 'create'],
  ]);
  expect(answer).toMatchObject({ eventIds: ['1', '6', '8'], count: 3 });
  expect(await given.contacts.countContacts({ workspaceId })).toMatchObject({ totalContacts: 2 });
  const read = async (externalId: string) =>
    (await given.customEvents.getCustomEvent({ workspaceId, eventName: 'order', externalId }))
      .event;
  expect(await read('1')).toMatchObject({ email: 'ann@example.com', source: 'import' });
  expect(await read('8')).toMatchObject({ source: 'shop' });
});

test('the latest of the rows with one key is taken, and the others are ignored', async () => {
  const workspaceId = await givenLists(given);
  const version = (v: number, day: number, over: Row = {}) =>
    event({
      externalId: '1',
      properties: { v },
      occurredAt: at(`2029-01-0${day}T00:00:00Z`),
      ...over,
    });
  expect(
    await actions(workspaceId, [
      version(1, 2),
      version(2, 3),
      version(3, 1, { email: 'old@example.com' }),
      version(4, 3),
      event({ externalId: '1', eventName: 'other' }),
    ]),
  ).toEqual(['ignore', 'ignore', 'ignore', 'create', 'create']);
  const key = { workspaceId, eventName: 'order', externalId: '1' };
  const { event: stored } = await given.customEvents.getCustomEvent(key);
  expect(stored?.properties).toEqual({ v: 4 });
  expect(await given.contacts.countContacts({ workspaceId })).toMatchObject({ totalContacts: 1 });
  expect(await actions(workspaceId, [version(5, 3), version(6, 4)])).toEqual(['ignore', 'update']);
  const deleted = { deletedAt: at('2029-01-05T00:00:00Z') };
  expect(await actions(workspaceId, [version(7, 1, deleted)])).toEqual(['delete']);
  expect(await actions(workspaceId, [version(8, 1)])).toEqual(['create']);
});

test('the latest of the rows with one key keeps the goal of earlier ones where it has none', async () => {
  const workspaceId = await givenLists(given);
  const order = (day: number, over: Row) =>
    event({ externalId: '1', occurredAt: at(`2029-01-0${day}T00:00:00Z`), ...over });
  const rows = [
    order(1, { goalName: 'ordered', goalType: 'purchase', goalValue: 12.5 }),
    order(3, { goalName: 'paid' }),
    order(2, { goalName: 'late', goalValue: 1 }),
    order(4, { properties: { v: 4 } }),
  ];
  expect(await actions(workspaceId, rows)).toEqual(['ignore', 'ignore', 'ignore', 'create']);
  const key = { workspaceId, eventName: 'order', externalId: '1' };
  const { event: stored } = await given.customEvents.getCustomEvent(key);
  expect(stored).toMatchObject({
    goalName: 'paid',
    goalType: 'purchase',
    goalValue: 12.5,
    properties: { v: 4 },
  });
});

test('a thousand rows are published in batches, one event each, and a repeat publishes nothing', async () => {
  const workspaceId = await givenLists(given);
  const events = Array.from({ length: 1_000 }, (_, number) =>
    event({
      externalId: `${number}`,
      email: `p${number % 10}@example.com`,
      occurredAt: at('2029-01-01T00:00:00Z'),
    }),
  );
  await importAll(workspaceId, events);
  const told = await takeEvents(given, { consumer: 'webhooks', workspaceId });
  expect(told.filter(({ type }) => type === 'custom_event.created')).toHaveLength(1_000);
  expect(told.filter(({ type }) => type === 'contact.created')).toHaveLength(10);
  expect(new Set(await actions(workspaceId, events))).toEqual(new Set(['ignore']));
  expect(await takeEvents(given, { consumer: 'webhooks', workspaceId })).toEqual([]);
});

test.each([
  [0, 'events array cannot be empty'],
  [1_001, 'cannot import more than 1000 events at once'],
])('%d rows are refused as a whole', async (count, text) => {
  const workspaceId = await givenLists(given);
  const events = Array.from({ length: count }, (_, number) => event({ externalId: `${number}` }));
  await expect(importAll(workspaceId, events)).rejects.toMatchObject({ rawMessage: text });
});

test('parallel imports of the same keys and people, in any order, all succeed', async () => {
  const workspaceId = await givenLists(given);
  for (let round = 0; round < 5; round += 1) {
    const rows = (shift: number, second: number) =>
      Array.from({ length: 200 }, (_, number) =>
        event({
          externalId: `${round}-${number}`,
          email: `p${round}-${(number + shift) % 50}@example.com`,
          occurredAt: at(`2029-01-01T00:00:0${second}Z`),
        }),
      );
    const contacts = rows(0, 0).map(({ email = '' }) => ({ email, firstName: `${round}` }));
    await Promise.all([
      importAll(workspaceId, rows(0, 1)),
      importAll(workspaceId, rows(7, 2).toReversed()),
      importAll(workspaceId, rows(13, 3)),
      given.contacts.importContacts({ workspaceId, contacts: contacts.toReversed() }),
    ]);
  }
  const [row] = await query<{ wrong: number; all: number }>(
    given.context.store.fork(),
    `select count(*) filter (where occurred_at <> '2029-01-01 00:00:03Z')::int as wrong, count(*)::int as all
     from custom_events where workspace_id = $1`,
    [workspaceId],
  );
  expect(row).toEqual({ wrong: 0, all: 1_000 });
});
