import { fromJson } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { microsOf } from '../contact/values.ts';
import { takeEvents, takeTimedEvents } from '../test/events.ts';
import { givenLists, givenStatus, useService } from '../test/given.ts';

const given = useService();

const webhooks = (workspaceId: string) => takeEvents(given, { consumer: 'webhooks', workspaceId });
const types = async (workspaceId: string) =>
  (await webhooks(workspaceId)).map(({ type }) => type).toSorted();

test('the event of a new contact has all public fields, nulls included', async () => {
  const workspaceId = await givenLists(given);
  const contact = {
    email: 'Ann@Example.com',
    firstName: 'Ann',
    customNumber1: 1.5,
    customDatetime1: { seconds: 1_900_000_000n, nanos: 0 },
    customJson1: { a: [1, { b: null }] },
  };
  await given.contacts.upsertContact({ workspaceId, contact });
  const [event, ...more] = await webhooks(workspaceId);
  expect(more).toEqual([]);
  expect(event?.type).toBe('contact.created');
  const told = event?.data.contact as Record<string, unknown>;
  expect(told).toMatchObject({
    email: 'ann@example.com',
    external_id: null,
    first_name: 'Ann',
    last_name: null,
    custom_number_1: 1.5,
    custom_datetime_1: '2030-03-17T17:46:40Z',
    custom_json_1: { a: [1, { b: null }] },
    created_at: '2030-01-01T12:00:00Z',
    updated_at: '2030-01-01T12:00:00Z',
  });
  expect(Object.keys(told)).toHaveLength(36);
  expect(told).not.toHaveProperty('workspace_id');
});

test('a contact is published as updated only when one of its fields has changed', async () => {
  const workspaceId = await givenLists(given);
  const contact = { email: 'a@example.com', firstName: 'Ann', customJson1: { a: 1, b: [2] } };
  await given.contacts.upsertContact({ workspaceId, contact });
  await webhooks(workspaceId);
  const same = { ...contact, email: 'A@example.com', customJson1: { b: [2], a: 1 } };
  expect(await given.contacts.upsertContact({ workspaceId, contact: same })).toMatchObject({
    action: 'update',
  });
  await given.contacts.importContacts({ workspaceId, contacts: [same, { email: contact.email }] });
  expect(await types(workspaceId)).toEqual([]);
  const cleared = { email: contact.email, nullFields: { paths: ['first_name'] } };
  await given.contacts.upsertContact({ workspaceId, contact: cleared });
  expect(await webhooks(workspaceId)).toMatchObject([
    { type: 'contact.updated', data: { contact: { first_name: null, custom_json_1: { a: 1 } } } },
  ]);
});

test('an import that fails publishes nothing', async () => {
  const workspaceId = await givenLists(given);
  const request = { contacts: [{ email: 'a@example.com' }], subscribeToLists: ['nowhere'] };
  await expect(given.contacts.importContacts({ workspaceId, ...request })).rejects.toThrow();
  expect(await types(workspaceId)).toEqual([]);
});

test('each change of a membership by an import is published with the status before', async () => {
  const workspaceId = await givenLists(given, 'news');
  const emails = ['active', 'pending', 'unsubscribed', 'bounced', 'complained', 'removed'].map(
    (name) => `${name}@example.com`,
  );
  const contacts = emails.map((email) => ({ email }));
  const request = { workspaceId, contacts, subscribeToLists: ['news'] };
  await given.contacts.importContacts(request);
  expect((await webhooks(workspaceId)).at(-1)).toEqual({
    type: 'list.subscribed',
    data: {
      email: expect.stringContaining('@example.com'),
      list_id: 'news',
      list_name: 'List news',
      status: 'active',
      previous_status: null,
      event_timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    },
  });
  for (const email of emails) {
    const [status = ''] = email.split('@');
    const removed = status === 'removed';
    const change = { workspaceId, email, status: removed ? 'active' : status, removed };
    await givenStatus(given, change);
  }
  await given.contacts.importContacts(request);
  const told = await webhooks(workspaceId);
  expect(told.map(({ type, data }) => [type, data.email, data.previous_status]).toSorted()).toEqual(
    [
      ['list.confirmed', 'pending@example.com', 'pending'],
      ['list.subscribed', 'removed@example.com', null],
    ],
  );
});

test('an import makes events of the types that webhooks wants in the workspace, and no others', async () => {
  const workspaceId = await givenLists(given, 'news');
  const wants = (...types: string[]) =>
    given.interests.setInterest({ consumer: 'webhooks', workspaceId, types });
  const imported = async (name: string) => {
    const contacts = ['old', name].map((each) => ({
      email: `${each}@example.com`,
      lastName: name,
    }));
    await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['news'] });
    return webhooks(workspaceId);
  };
  await imported('old');
  await wants();
  expect(await imported('silent')).toEqual([]);
  await wants('contact.created');
  expect(await imported('new')).toMatchObject([
    { type: 'contact.created', data: { contact: { email: 'new@example.com' } } },
  ]);
  await wants('contact.updated', 'list.unsubscribed');
  expect(await imported('newer')).toMatchObject([
    { type: 'contact.updated', data: { contact: { email: 'old@example.com' } } },
  ]);
  await wants('list.subscribed');
  expect(await imported('newest')).toMatchObject([
    { type: 'list.subscribed', data: { email: 'newest@example.com', list_id: 'news' } },
  ]);
});

test('an import of 10,000 into a list writes 20,000 events in tens of jobs', async () => {
  const workspaceId = await givenLists(given, 'news');
  const contacts = Array.from({ length: 10_000 }, (_, number) => ({
    email: `p${number}@example.com`,
  }));
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['news'] });
  const jobs = await query<{ events: number }>(
    given.context.store.fork(),
    `select json_array_length(payload->'types') as events from contacts_jobs._private_jobs
     where payload->>'workspaceId' = $1`,
    [workspaceId],
  );
  expect(jobs.reduce((sum, { events }) => sum + events, 0)).toBe(20_000);
  expect(Math.max(...jobs.map(({ events }) => events))).toBe(500);
  expect(jobs.length).toBeLessThan(60);
});

test('the later of two quick changes of a contact has the later time, in the data as well', async () => {
  const workspaceId = await givenLists(given, 'news');
  const email = 'a@example.com';
  await given.contacts.importContacts({
    ...{ workspaceId, contacts: [{ email }], subscribeToLists: ['news'] },
  });
  for (let count = 0; count < 20; count += 1) {
    const status = count % 2 === 0 ? 'UNSUBSCRIBED' : 'ACTIVE';
    const change = { workspaceId, email, listId: 'news', status: MembershipStatus[status] };
    await given.contactLists.updateContactListStatus(change);
    await given.contacts.upsertContact({ workspaceId, contact: { email, firstName: `${count}` } });
  }
  const events = await takeTimedEvents(given, { consumer: 'webhooks', workspaceId });
  const order = events.toSorted((a, b) => (a.at < b.at ? -1 : 1));
  expect(new Set(order.map(({ at }) => at)).size).toBe(42);
  expect(order.map(({ type }) => type)).toEqual([
    'contact.created',
    'list.subscribed',
    ...Array.from({ length: 20 }, (_, count) => [
      count % 2 === 0 ? 'list.unsubscribed' : 'list.resubscribed',
      'contact.updated',
    ]).flat(),
  ]);
  const names = order.flatMap(
    ({ data }) => (data.contact as { first_name?: string })?.first_name ?? [],
  );
  expect(names).toEqual(Array.from({ length: 20 }, (_, count) => `${count}`));
  const lists = order.filter(({ type }) => type.startsWith('list.'));
  expect(lists.map(({ data }) => micros(String(data.event_timestamp)))).toEqual(
    lists.map(({ at }) => at),
  );
});

const micros = (text: string) => microsOf(fromJson(TimestampSchema, text));
