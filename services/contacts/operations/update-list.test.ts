import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { endMemberships } from '../tasks/end-memberships.ts';
import { takeEvents } from '../test/events.ts';
import { givenDeletedList, givenLists, givenStatus, useService } from '../test/given.ts';

const given = useService();

const email = 'ann@example.com';
const listNotFound = { code: Code.NotFound, rawMessage: 'List not found' };

async function takenEvents(workspaceId: string) {
  const events = await takeEvents(given, { consumer: 'webhooks', workspaceId });
  return events.map(({ type, data }) => [type, data.list_id ?? null]);
}

test('update replaces name, flags, description and template, and keeps the time of creation', async () => {
  const workspaceId = await givenLists(given);
  const first = { id: 'a', name: 'A', isPublic: true, isDoubleOptin: true, description: 'old' };
  const doubleOptinTemplate = { id: 'confirm' };
  const { list: before } = await given.lists.createList({
    workspaceId,
    ...first,
    doubleOptinTemplate,
  });
  given.clock.now = new Date(given.clock.now.getTime() + 1_000);
  const { list } = await given.lists.updateList({ workspaceId, id: 'a', name: 'B' });
  expect(list).toMatchObject({
    id: 'a',
    name: 'B',
    isPublic: false,
    isDoubleOptin: false,
    description: '',
    createdAt: before?.createdAt,
  });
  expect(list?.doubleOptinTemplate).toBeUndefined();
  expect(list?.updatedAt).not.toEqual(before?.updatedAt);
  expect((await given.lists.getList({ workspaceId, id: 'a' })).list).toEqual(list);
});

test.each([
  [{ name: '' }, 'name is required'],
  [{ name: 'x'.repeat(256) }, 'name length must be between 1 and 255'],
  [
    { name: 'A', isDoubleOptin: true },
    'double opt-in template is required when is_double_optin is true',
  ],
])('update refuses %j', async (change, rawMessage) => {
  const workspaceId = await givenLists(given, 'a');
  await expect(given.lists.updateList({ workspaceId, id: 'a', ...change })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage,
  });
});

test('an unknown or deleted list cannot be changed, deleted or counted', async () => {
  const workspaceId = await givenLists(given, 'gone');
  await givenDeletedList(given, { workspaceId, id: 'gone' });
  for (const id of ['gone', 'never', "x' or true --"]) {
    const key = { workspaceId, id };
    await expect(given.lists.updateList({ ...key, name: 'A' })).rejects.toMatchObject(listNotFound);
    await expect(given.lists.deleteList(key)).rejects.toMatchObject(listNotFound);
    await expect(given.lists.getListStats({ workspaceId, listId: id })).rejects.toMatchObject(
      listNotFound,
    );
  }
});

test('stats count the members of each status, without removed ones', async () => {
  const workspaceId = await givenLists(given, 'news');
  expect((await given.lists.getListStats({ workspaceId, listId: 'news' })).stats).toMatchObject({
    totalActive: 0,
    totalPending: 0,
    totalUnsubscribed: 0,
    totalBounced: 0,
    totalComplained: 0,
  });
  const statuses = ['active', 'pending', 'unsubscribed', 'bounced', 'complained'];
  const members = statuses.flatMap((status, index) =>
    Array.from({ length: index + 1 }, (_, number) => ({
      email: `${status}${number}@a.example`,
      status,
    })),
  );
  const contacts = [...members, { email }].map((each) => ({ email: each.email }));
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['news'] });
  for (const member of members) await givenStatus(given, { workspaceId, ...member });
  await given.contactLists.removeContactFromList({ workspaceId, email, listId: 'news' });
  const { listId, stats } = await given.lists.getListStats({ workspaceId, listId: 'news' });
  expect(listId).toBe('news');
  expect(stats).toMatchObject({
    totalActive: 1,
    totalPending: 2,
    totalUnsubscribed: 3,
    totalBounced: 4,
    totalComplained: 5,
  });
});

test('a deleted list is gone at once, and a job ends its memberships with an event for each', async () => {
  const workspaceId = await givenLists(given, 'news', 'tips');
  const contacts = Array.from({ length: 1_001 }, (_, number) => ({
    email: `p${number}@a.example`,
  }));
  const subscribeToLists = ['news', 'tips'];
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists });
  await takenEvents(workspaceId);
  expect(await given.lists.deleteList({ workspaceId, id: 'news' })).toMatchObject({
    success: true,
  });
  const person = { workspaceId, email: 'p0@a.example' };
  const lists = async () => {
    const answer = await given.contactLists.listContactListsByContact(person);
    return answer.contactLists.map(({ listId }) => listId);
  };
  expect(await lists()).toEqual(['tips']);
  const [job] = await query<{ payload: unknown }>(
    given.context.store.fork(),
    `delete from contacts_jobs._private_jobs where payload->>'listId' = 'news' returning payload`,
    [],
  );
  const end = endMemberships(given.context);
  await end(job?.payload);
  const events = await takenEvents(workspaceId);
  expect(events).toHaveLength(1_001);
  expect(new Set(events.map(String))).toEqual(new Set(['list.removed,news']));
  await end(job?.payload);
  expect(await takenEvents(workspaceId)).toEqual([]);
  expect(await lists()).toEqual(['tips']);
});

const subscribe = (workspaceId: string, request: object = {}) =>
  given.lists.subscribeContact({ workspaceId, contact: { email }, listIds: ['own'], ...request });

async function statusOf(workspaceId: string) {
  const key = { workspaceId, email, listId: 'own' };
  return (await given.contactLists.getContactList(key)).contactList?.status;
}

test('spec: lists.subscribe works for any list, public or private, and bypasses double opt-in', async () => {
  const workspaceId = await givenLists(given, 'own');
  const optIn = { isDoubleOptin: true, doubleOptinTemplate: { id: 'confirm' } };
  await given.lists.createList({ workspaceId, id: 'doi', name: 'A', isPublic: true, ...optIn });
  const listIds = ['own', 'doi', 'own'];
  expect(await subscribe(workspaceId, { listIds })).toMatchObject({ success: true });
  const { contactLists } = await given.contactLists.listContactListsByContact({
    workspaceId,
    email,
  });
  expect(contactLists.map(({ listId, status }) => [listId, status])).toEqual([
    ['doi', MembershipStatus.ACTIVE],
    ['own', MembershipStatus.ACTIVE],
  ]);
  expect(await takeEvents(given, { consumer: 'messages', workspaceId })).toEqual([]);
});

test.each(['active', 'pending', 'unsubscribed', 'bounced', 'complained'])(
  'spec: lists.subscribe sets a %s membership to active immediately',
  async (status) => {
    const workspaceId = await givenLists(given, 'own');
    await subscribe(workspaceId);
    for (const removed of [false, true]) {
      await givenStatus(given, { workspaceId, email, status, removed });
      await subscribe(workspaceId);
      expect(await statusOf(workspaceId)).toBe(MembershipStatus.ACTIVE);
    }
  },
);

test('lists.subscribe creates the contact or changes what is given; null and absent keep', async () => {
  const workspaceId = await givenLists(given, 'own');
  await subscribe(workspaceId, { contact: { email: 'Ann@Example.com', firstName: 'Ann' } });
  const nullFields = { paths: ['first_name'] };
  await subscribe(workspaceId, { contact: { email, lastName: 'Lee', nullFields } });
  const { contact } = await given.contacts.getContactByEmail({ workspaceId, email });
  expect(contact).toMatchObject({ firstName: 'Ann', lastName: 'Lee' });
  expect(await takenEvents(workspaceId)).toEqual([
    ['contact.created', null],
    ['list.subscribed', 'own'],
    ['contact.updated', null],
  ]);
});

test.each([
  [{ contact: undefined }, 'contact is required'],
  [{ contact: { email: '' } }, 'invalid contact: email is required'],
  [{ contact: { email: 'x' } }, 'invalid contact: invalid email format'],
  [{ listIds: [] }, 'list_ids is required'],
  [{ listIds: ['own', 'never'] }, 'list not found: never'],
])('lists.subscribe refuses %j and writes nothing', async (request, rawMessage) => {
  const workspaceId = await givenLists(given, 'own');
  await expect(subscribe(workspaceId, request)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage,
  });
  expect(await takenEvents(workspaceId)).toEqual([]);
});
