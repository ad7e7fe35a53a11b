import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { memberWith, userClaims } from '../../../test/setup/service.ts';
import { takeEvents } from '../test/events.ts';
import {
  givenDeletedList,
  givenLists,
  givenService,
  givenStatus,
  useService,
} from '../test/given.ts';

const given = useService();

const email = 'ann@example.com';

async function givenMember(...listIds: string[]): Promise<string> {
  const workspaceId = await givenLists(given, 'news', 'tips');
  const contacts = [{ email }];
  const subscribeToLists = listIds.length > 0 ? listIds : ['news'];
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists });
  await takeEvents(given, { consumer: 'webhooks', workspaceId });
  return workspaceId;
}

async function takenEvents(workspaceId: string) {
  const events = await takeEvents(given, { consumer: 'webhooks', workspaceId });
  return events.map(({ type, data }) => [type, data.status, data.previous_status]);
}

test('getByIDs returns a membership, whatever the case of the address', async () => {
  const workspaceId = await givenMember();
  const key = { workspaceId, email: ' Ann@Example.com', listId: 'news' };
  const { contactList } = await given.contactLists.getContactList(key);
  expect(contactList).toMatchObject({
    email,
    listId: 'news',
    listName: 'List news',
    status: MembershipStatus.ACTIVE,
  });
  expect(contactList?.createdAt).toEqual(contactList?.updatedAt);
  expect(contactList?.deletedAt).toBeUndefined();
});

const notThere = { code: Code.NotFound, rawMessage: 'Contact list relationship not found' };

test('getByIDs finds no unknown contact, removed member, or member of a deleted list', async () => {
  const workspaceId = await givenMember('news', 'tips');
  const get = (address: string, listId: string) =>
    given.contactLists.getContactList({ workspaceId, email: address, listId });
  await expect(get('bob@example.com', 'news')).rejects.toMatchObject(notThere);
  await expect(get(email, 'nowhere')).rejects.toMatchObject(notThere);
  await givenDeletedList(given, { workspaceId, id: 'tips' });
  await expect(get(email, 'tips')).rejects.toMatchObject(notThere);
  await given.contactLists.removeContactFromList({ workspaceId, email, listId: 'news' });
  await expect(get(email, 'news')).rejects.toMatchObject(notThere);
});

test('each operation refuses an invalid address', async () => {
  const workspaceId = await givenMember();
  const key = { workspaceId, email: 'no address', listId: 'news' };
  const refused = { code: Code.InvalidArgument, rawMessage: 'invalid email format' };
  const status = MembershipStatus.ACTIVE;
  for (const call of [
    () => given.contactLists.getContactList(key),
    () => given.contactLists.listContactListsByContact(key),
    () => given.contactLists.updateContactListStatus({ ...key, status }),
    () => given.contactLists.removeContactFromList(key),
    () => given.contacts.deleteContact(key),
  ]) {
    await expect(call()).rejects.toMatchObject(refused);
  }
});

test('getContactsByList pages through a list, newest first, then by address', async () => {
  const workspaceId = await givenLists(given, 'news');
  const join = async (...names: string[]) => {
    const contacts = names.map((name) => ({ email: `${name}@example.com` }));
    await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['news'] });
    given.clock.now = new Date(given.clock.now.getTime() + 1_500);
  };
  await join('e', 'd');
  await join('b', 'c', 'a');
  await givenStatus(given, { workspaceId, email: 'c@example.com', status: 'bounced' });
  const pages: string[][] = [];
  let cursor = '';
  do {
    const request = { workspaceId, listId: 'news', limit: 2, cursor };
    const page = await given.contactLists.listContactListsByList(request);
    pages.push(page.contactLists.map((each) => each.email.slice(0, 1)));
    cursor = page.nextCursor ?? '';
  } while (cursor !== '');
  expect(pages).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
});

test('getContactsByList refuses a wrong limit or cursor and does not find an unknown list', async () => {
  const workspaceId = await givenMember();
  const list = (request: object) =>
    given.contactLists.listContactListsByList({ workspaceId, listId: 'news', ...request });
  for (const limit of [0, 1_001]) {
    await expect(list({ limit })).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: 'limit must be between 1 and 1000',
    });
  }
  await expect(list({ cursor: "'; --" })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'invalid cursor',
  });
  await expect(list({ listId: 'nowhere' })).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'List not found',
  });
});

test('getListsByContact returns the memberships by list id, and an empty array where there are none', async () => {
  const workspaceId = await givenMember('tips', 'news');
  const lists = async () => {
    const answer = await given.contactLists.listContactListsByContact({ workspaceId, email });
    return answer.contactLists.map(({ listId }) => listId);
  };
  expect(await lists()).toEqual(['news', 'tips']);
  await given.contactLists.removeContactFromList({ workspaceId, email, listId: 'news' });
  await givenDeletedList(given, { workspaceId, id: 'tips' });
  expect(await lists()).toEqual([]);
  const unknown = { workspaceId, email: 'bob@example.com' };
  await expect(given.contactLists.listContactListsByContact(unknown)).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'Contact not found',
  });
});

const words = ['active', 'pending', 'unsubscribed', 'bounced', 'complained'];

test('spec: updateStatus sets an existing membership to any of the five statuses, whatever it was', async () => {
  const workspaceId = await givenMember();
  for (const before of words) {
    for (const [index, after] of words.entries()) {
      await givenStatus(given, { workspaceId, email, status: before });
      const change = {
        workspaceId,
        email,
        listId: 'news',
        status: (index + 1) as MembershipStatus,
      };
      expect(await given.contactLists.updateContactListStatus(change)).toMatchObject({
        success: true,
        message: 'status updated successfully',
        found: true,
      });
      const { contactList } = await given.contactLists.getContactList(change);
      expect([before, contactList?.status]).toEqual([before, index + 1]);
      const isPublished = before !== after && after !== 'pending';
      expect((await takenEvents(workspaceId)).length).toBe(isPublished ? 1 : 0);
    }
  }
});

test('spec: updateStatus never creates a membership, and says that it found none', async () => {
  const workspaceId = await givenMember();
  const status = MembershipStatus.ACTIVE;
  const set = (address: string, listId: string) =>
    given.contactLists.updateContactListStatus({ workspaceId, email: address, listId, status });
  const notFound = { success: true, message: 'contact not in list', found: false };
  expect(await set(email, 'tips')).toMatchObject(notFound);
  expect(await set(email, 'nowhere')).toMatchObject(notFound);
  expect(await set('bob@example.com', 'news')).toMatchObject(notFound);
  await given.contactLists.removeContactFromList({ workspaceId, email, listId: 'news' });
  expect(await set(email, 'news')).toMatchObject(notFound);
  expect(await given.contactLists.listContactListsByContact({ workspaceId, email })).toMatchObject({
    contactLists: [],
  });
});

test('updateStatus refuses an unknown status', async () => {
  const workspaceId = await givenMember();
  const set = (status: number) =>
    given.contactLists.updateContactListStatus({
      workspaceId,
      email,
      listId: 'news',
      status: status as MembershipStatus,
    });
  await expect(set(0)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'status is required',
  });
  await expect(set(6)).rejects.toMatchObject({ code: Code.InvalidArgument });
});

test('removing a contact from a list keeps the contact, is published once, and allows a new start', async () => {
  const workspaceId = await givenMember();
  const key = { workspaceId, email, listId: 'news' };
  expect(await given.contactLists.removeContactFromList(key)).toMatchObject({ success: true });
  expect(await takenEvents(workspaceId)).toEqual([['list.removed', 'active', 'active']]);
  await expect(given.contactLists.removeContactFromList(key)).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'contact list not found',
  });
  await given.contacts.getContactByEmail({ workspaceId, email });
  const contacts = [{ email }];
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['news'] });
  expect(await takenEvents(workspaceId)).toEqual([['list.subscribed', 'active', null]]);
});

test('a caller without access to lists gets an error that names the permission', async () => {
  const { as, context } = await givenService(memberWith({}));
  const { contactLists } = as(userClaims());
  const key = { workspaceId: 'w', email, listId: 'news' };
  const lacks = (action: string) => ({
    code: Code.PermissionDenied,
    rawMessage: `Insufficient permissions: ${action} access to lists required`,
  });
  await expect(contactLists.getContactList(key)).rejects.toMatchObject(lacks('read'));
  await expect(contactLists.listContactListsByList(key)).rejects.toMatchObject(lacks('read'));
  await expect(contactLists.listContactListsByContact(key)).rejects.toMatchObject(lacks('read'));
  await expect(contactLists.updateContactListStatus(key)).rejects.toMatchObject(lacks('write'));
  await expect(contactLists.removeContactFromList(key)).rejects.toMatchObject(lacks('write'));
  await context.store.close();
});
