import { expect, test } from '@jest/globals';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { endMemberships } from '../tasks/end-memberships.ts';
import { entriesOf, givenReader, takeTouches } from '../test/changes.ts';
import { givenLists, givenStatus, useService } from '../test/given.ts';

const given = useService();
const email = 'ann@example.com';
const entries = (workspaceId: string) => entriesOf(given, workspaceId, email);
const touches = (workspaceId: string) => takeTouches(given, workspaceId);

async function givenContact(...lists: string[]): Promise<string> {
  const workspaceId = await givenLists(given, ...lists);
  await givenReader(given, workspaceId);
  await given.contacts.upsertContact({ workspaceId, contact: { email, firstName: 'Ann' } });
  return workspaceId;
}

const bounce = (workspaceId: string, type = 'email.bounced') =>
  given.events.consumeEvents({
    workspaceId,
    batchId: crypto.randomUUID(),
    events: [{ type, dataJson: JSON.stringify({ email, list_id: 'news' }) }],
  });

test('a new contact touches everything and has no entry', async () => {
  const workspaceId = await givenContact();
  expect(await entries(workspaceId)).toEqual([]);
  expect(await touches(workspaceId)).toEqual([`${email}: *`]);
});

test('a change of a contact is kept with the values before and after, and touches what was given', async () => {
  const workspaceId = await givenContact();
  await touches(workspaceId);
  await givenReader(given, workspaceId, 'contact');
  const contact = {
    email,
    firstName: 'Anna',
    lastName: 'Lee',
    customNumber1: 1.5,
    customDatetime1: { seconds: 1_900_000_000n },
    customJson1: { a: [1] },
  };
  await given.contacts.upsertContact({ workspaceId, contact });
  expect(await entries(workspaceId)).toEqual([
    {
      kind: 'contact.updated',
      entity_id: null,
      changes: {
        first_name: { old: 'Ann', new: 'Anna' },
        last_name: { old: null, new: 'Lee' },
        custom_number_1: { old: null, new: 1.5 },
        custom_datetime_1: { old: null, new: '2030-03-17T17:46:40Z' },
        custom_json_1: { old: null, new: { a: [1] } },
      },
    },
  ]);
  const fields = 'custom_datetime_1 custom_json_1 custom_number_1 first_name last_name updated_at';
  expect(await touches(workspaceId)).toEqual([
    `${email}: contact ${fields
      .split(' ')
      .map((name) => `field.${name}`)
      .join(' ')}`,
  ]);
});

test('clearing a field is a change, and what leaves a contact as it was is none', async () => {
  const workspaceId = await givenContact();
  await touches(workspaceId);
  await givenReader(given, workspaceId, 'field.first_name');
  const upsert = (more: object) =>
    given.contacts.upsertContact({ workspaceId, contact: { email, ...more } });
  await upsert({ firstName: 'Ann' });
  await given.contacts.importContacts({ workspaceId, contacts: [{ email }] });
  expect(await entries(workspaceId)).toEqual([]);
  expect(await touches(workspaceId)).toEqual([]);
  await upsert({ nullFields: { paths: ['first_name', 'phone'] } });
  expect(await entries(workspaceId)).toMatchObject([
    { changes: { first_name: { old: 'Ann', new: null } } },
  ]);
  expect(await touches(workspaceId)).toEqual([
    `${email}: contact field.first_name field.phone field.updated_at`,
  ]);
});

test('a large JSON value is not kept in the log', async () => {
  const workspaceId = await givenContact();
  const set = (text: string) =>
    given.contacts.upsertContact({ workspaceId, contact: { email, customJson1: { text } } });
  await set('x'.repeat(3_000));
  given.clock.now = new Date(given.clock.now.getTime() + 1_000);
  await set('small');
  expect(await entries(workspaceId)).toMatchObject([
    { changes: { custom_json_1: { old: null } } },
    { changes: { custom_json_1: { new: { text: 'small' } } } },
  ]);
  const [first, second] = await entries(workspaceId);
  expect(JSON.stringify([first, second]).length).toBeLessThan(400);
});

test('nothing is noted for segments that read none of it', async () => {
  const workspaceId = await givenContact('news');
  await touches(workspaceId);
  await givenReader(given, workspaceId, 'field.phone', 'list.other', 'event.order');
  await given.contacts.importContacts({
    workspaceId,
    contacts: [{ email, firstName: 'Anna' }],
    subscribeToLists: ['news'],
  });
  expect(await touches(workspaceId)).toEqual([]);
});

test('the beginning of a membership has no entry and is remembered in its row; what follows has entries', async () => {
  const workspaceId = await givenLists(given, 'news');
  await given.lists.createList({
    workspaceId,
    id: 'asked',
    name: 'Asked',
    isPublic: true,
    isDoubleOptin: true,
    doubleOptinTemplate: { id: 'opt-in', version: 1 },
  });
  await givenReader(given, workspaceId, 'lists');
  const contact = { email };
  await given.lists.subscribeContact({ workspaceId, contact, listIds: ['news'] });
  await given.subscriptions.subscribe({ workspaceId, contact, listIds: ['asked'] });
  expect(await entries(workspaceId)).toEqual([]);
  expect(await touches(workspaceId)).toEqual([`${email}: * list.asked list.news lists`]);
  const rows = await query(
    given.context.store.fork(),
    `select list_id, first_status from memberships where workspace_id = $1 order by list_id`,
    [workspaceId],
  );
  expect(rows).toEqual([
    { list_id: 'asked', first_status: 'pending' },
    { list_id: 'news', first_status: null },
  ]);
  await given.subscribers.confirmSubscription({ workspaceId, listId: 'asked', email });
  await bounce(workspaceId);
  const status = (old: string | null, now: string | null) => ({ status: { old, new: now } });
  expect(await entries(workspaceId)).toEqual([
    { kind: 'list.bounced', entity_id: 'asked', changes: status('active', 'bounced') },
    { kind: 'list.bounced', entity_id: 'news', changes: status('active', 'bounced') },
    { kind: 'list.confirmed', entity_id: 'asked', changes: status('pending', 'active') },
  ]);
  expect(await touches(workspaceId)).toEqual([`${email}: list.asked list.news lists`]);
});

test('a membership that is set to pending, removed and joined again has an entry for each step', async () => {
  const workspaceId = await givenContact('news');
  const contact = { email };
  const key = { workspaceId, email, listId: 'news' };
  const at = (minute: number) => {
    given.clock.now = new Date(Date.UTC(2030, 0, 1, 13, minute));
  };
  const join = () => given.lists.subscribeContact({ workspaceId, contact, listIds: ['news'] });
  await join();
  at(1);
  await given.contactLists.updateContactListStatus({ ...key, status: MembershipStatus.PENDING });
  at(2);
  await given.contactLists.removeContactFromList(key);
  at(3);
  await join();
  at(4);
  await join();
  expect(await entries(workspaceId)).toEqual([
    {
      kind: 'list.pending',
      entity_id: 'news',
      changes: { status: { old: 'active', new: 'pending' } },
    },
    { kind: 'list.removed', entity_id: 'news', changes: { status: { old: 'pending', new: null } } },
    {
      kind: 'list.subscribed',
      entity_id: 'news',
      changes: { status: { old: null, new: 'active' } },
    },
  ]);
});

test('a membership that was removed changes its status without an entry, but touches its list', async () => {
  const workspaceId = await givenContact('news');
  await given.contacts.importContacts({
    workspaceId,
    contacts: [{ email }],
    subscribeToLists: ['news'],
  });
  await givenStatus(given, { workspaceId, email, status: 'active', removed: true });
  await givenReader(given, workspaceId, 'lists');
  await touches(workspaceId);
  await bounce(workspaceId);
  expect(await entries(workspaceId)).toEqual([]);
  expect(await touches(workspaceId)).toEqual([`${email}: list.news lists`]);
});

test('the end of a list ends its memberships with an entry each, and touches them', async () => {
  const workspaceId = await givenContact('news');
  await given.contacts.importContacts({
    workspaceId,
    contacts: [{ email }],
    subscribeToLists: ['news'],
  });
  await givenReader(given, workspaceId, 'list.news');
  await touches(workspaceId);
  await given.lists.deleteList({ workspaceId, id: 'news' });
  await endMemberships(given.context)({ workspaceId, listId: 'news' });
  expect(await entries(workspaceId)).toMatchObject([{ kind: 'list.removed', entity_id: 'news' }]);
  expect(await touches(workspaceId)).toEqual([`${email}: list.news lists`]);
});

test('deleting a contact touches everything and leaves no entry and no custom event', async () => {
  const workspaceId = await givenContact('news');
  await given.contacts.upsertContact({ workspaceId, contact: { email, firstName: 'Anna' } });
  await query(
    given.context.store.fork(),
    `insert into custom_events (workspace_id, event_name, external_id, email, properties, occurred_at, source, created_at, updated_at)
     select $1, 'order', email, email, '{}', now(), 'api', now(), now() from unnest(array[$2, 'bob@example.com']) as email`,
    [workspaceId, email],
  );
  await touches(workspaceId);
  await given.contacts.deleteContact({ workspaceId, email });
  expect(await entries(workspaceId)).toEqual([]);
  expect(await touches(workspaceId)).toEqual([`${email}: *`]);
  const left = await query(
    given.context.store.fork(),
    'select email from custom_events where workspace_id = $1',
    [workspaceId],
  );
  expect(left).toEqual([{ email: 'bob@example.com' }]);
});

test('an import of new contacts into a list writes nothing but contacts and memberships', async () => {
  const workspaceId = await givenLists(given, 'news');
  const contacts = Array.from({ length: 100 }, (_, number) => ({
    email: `p${number}@example.com`,
  }));
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['news'] });
  const rows = await query(
    given.context.store.fork(),
    `select email from timeline_entries where workspace_id = $1
     union all select email from segment_changes where workspace_id = $1`,
    [workspaceId],
  );
  expect(rows).toEqual([]);
});
