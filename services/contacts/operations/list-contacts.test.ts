import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import {
  type Given,
  givenDeletedList,
  givenLists,
  givenStatus,
  useService,
} from '../test/given.ts';

const given = useService();

async function givenContacts(...names: string[]): Promise<string> {
  const workspaceId = await givenLists(given, 'one', 'two');
  const contacts = names.map((name) => ({ email: `${name}@example.com`, firstName: name }));
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['one', 'two'] });
  return workspaceId;
}

type Filter = Omit<Parameters<Given['contacts']['listContacts']>[0], '$typeName'>;

async function found(filter: Filter): Promise<string[]> {
  const { contacts } = await given.contacts.listContacts(filter);
  return contacts.map(({ email }) => email.slice(0, email.indexOf('@')));
}

test('list returns the newest first, then by address, page by page', async () => {
  given.clock.now = new Date('2030-01-01T12:00:00.001Z');
  const workspaceId = await givenContacts('c', 'a', 'b');
  given.clock.now = new Date('2030-01-01T12:00:00.002Z');
  const contacts = [{ email: 'z@example.com' }, { email: 'y@example.com' }];
  await given.contacts.importContacts({ workspaceId, contacts });
  const pages: string[][] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const request = { workspaceId, limit: 2, cursor };
    const page: Awaited<ReturnType<Given['contacts']['listContacts']>> =
      await given.contacts.listContacts(request);
    pages.push(page.contacts.map(({ email }) => email));
    cursor = page.nextCursor;
  }
  expect(pages).toEqual([
    ['y@example.com', 'z@example.com'],
    ['a@example.com', 'b@example.com'],
    ['c@example.com'],
  ]);
});

test('a page of large contacts ends at 4 MiB, and the next goes on from there', async () => {
  const workspaceId = await givenLists(given);
  const json = { note: 'x'.repeat(60_000) };
  for (let group = 0; group < 10; group += 1) {
    const contacts = Array.from({ length: 10 }, (_, at) => ({
      email: `large${group}.${at}@example.com`,
      customJson1: json,
      customJson2: json,
      customJson3: json,
    }));
    await given.contacts.importContacts({ workspaceId, contacts });
  }
  const counts: number[] = [];
  const emails = new Set<string>();
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page: Awaited<ReturnType<Given['contacts']['listContacts']>> =
      await given.contacts.listContacts({ workspaceId, limit: 100, cursor });
    counts.push(page.contacts.length);
    for (const { email } of page.contacts) emails.add(email);
    cursor = page.nextCursor;
  }
  expect(counts).toEqual([23, 23, 23, 23, 8]);
  expect(emails.size).toBe(100);
});

test.each([
  'garbage',
  '%',
  "' or 1=1 --",
  Buffer.from('2030-02-31T00:00:00Z a@b.c').toString('base64url'),
  Buffer.from('0000-01-01T00:00:00Z a@b.c').toString('base64url'),
  Buffer.from('2030-01-01T00:00:00Z a\0b').toString('base64url'),
])('list refuses the cursor %j', async (cursor) => {
  await expect(given.contacts.listContacts({ workspaceId: 'w', cursor })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'invalid cursor',
  });
});

test.each([0, 1_001, -1])('list refuses the limit %i', async (limit) => {
  await expect(given.contacts.listContacts({ workspaceId: 'w', limit })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'limit must be between 1 and 1000',
  });
});

test('list finds parts of a field without regard to case', async () => {
  const workspaceId = await givenContacts('bob');
  const contact = { email: 'elodie@example.com', firstName: 'ÉLODIE' };
  await given.contacts.upsertContact({ workspaceId, contact });
  expect(await found({ workspaceId, firstName: 'élo' })).toEqual(['elodie']);
  expect(await found({ workspaceId, email: 'BOB@' })).toEqual(['bob']);
  expect(await found({ workspaceId, email: 'bob', firstName: 'x' })).toEqual([]);
});

test.each(['%', '_', '\\', "'", "' or true --", "'; drop table contacts; --", '$1', '%\\%'])(
  'list takes %j as text in every filter',
  async (text) => {
    const workspaceId = await givenContacts('bob');
    const contact = { email: 'bob@example.com', firstName: `a${text}b` };
    await given.contacts.upsertContact({ workspaceId, contact });
    expect(await found({ workspaceId, firstName: text })).toEqual(['bob']);
    for (const name of ['email', 'externalId', 'lastName', 'fullName', 'phone', 'country']) {
      expect(await found({ workspaceId, [name]: text })).toEqual([]);
    }
    expect(await found({ workspaceId, language: text, listId: text })).toEqual([]);
    expect(await found({ workspaceId, listId: text })).toEqual([]);
  },
);

test('list matches the list and the status on the same membership', async () => {
  const workspaceId = await givenContacts('ann', 'bob');
  const bob = { workspaceId, email: 'bob@example.com' };
  await given.audience.unsubscribeRecipient({ ...bob, listId: 'two' });
  const on = (
    listId: string,
    contactListStatus: MembershipStatus = MembershipStatus.UNSUBSCRIBED,
  ) => found({ workspaceId, listId, contactListStatus });
  expect(await on('one')).toEqual([]);
  expect(await on('two')).toEqual(['bob']);
  expect(await on('')).toEqual(['bob']);
  expect(await on('one', MembershipStatus.ACTIVE)).toEqual(['ann', 'bob']);
  await givenStatus(given, { ...bob, status: 'active', removed: true });
  expect(await found({ workspaceId, listId: 'one' })).toEqual(['ann']);
});

test('list fills in the lists of a contact only when asked', async () => {
  const workspaceId = await givenContacts('ann');
  const [plain] = (await given.contacts.listContacts({ workspaceId })).contacts;
  expect(plain?.contactLists).toEqual([]);
  const asked = { workspaceId, withContactLists: true, listId: 'two' };
  const [full] = (await given.contacts.listContacts(asked)).contacts;
  expect(full?.contactLists.map(({ listId, listName }) => [listId, listName])).toEqual([
    ['one', 'List one'],
    ['two', 'List two'],
  ]);
});

test('list finds nobody in a segment that does not exist', async () => {
  const workspaceId = await givenContacts('ann');
  expect(await found({ workspaceId, segments: ['none'] })).toEqual([]);
});

test('getByEmail takes the address in any case and returns memberships of lists that still exist', async () => {
  const workspaceId = await givenContacts('ann');
  await givenDeletedList(given, { workspaceId, id: 'one' });
  const request = { workspaceId, email: ' ANN@example.COM ' };
  const { contact } = await given.contacts.getContactByEmail(request);
  expect(contact).toMatchObject({
    email: 'ann@example.com',
    firstName: 'ann',
    contactSegments: [],
  });
  expect(contact?.contactLists).toMatchObject([
    { email: 'ann@example.com', listId: 'two', status: MembershipStatus.ACTIVE },
  ]);
});

test.each(['nobody@example.com', 'no address', 'a\0@example.com'])(
  'getByEmail does not find %j',
  async (email) => {
    await expect(
      given.contacts.getContactByEmail({ workspaceId: 'w', email }),
    ).rejects.toMatchObject({ code: Code.NotFound, rawMessage: 'Contact not found' });
  },
);

test('a NUL in a filter is the caller’s fault', async () => {
  const workspaceId = await givenContacts('ann');
  await expect(found({ workspaceId, firstName: 'a\0b' })).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});

test('a page of up to 1,000 contacts ends at 4 MiB, and the next one goes on there', async () => {
  const workspaceId = await givenLists(given);
  const large = { text: 'x'.repeat(60_000) };
  const contacts = Array.from({ length: 120 }, (_, place) => ({
    email: `p${place}@example.com`,
    customJson1: large,
  }));
  await given.contacts.importContacts({ workspaceId, contacts });
  const first = await given.contacts.listContacts({ workspaceId, limit: 1_000 });
  expect(first.contacts.length).toBeGreaterThan(50);
  expect(first.contacts.length).toBeLessThan(80);
  const cursor = first.nextCursor ?? '';
  const second = await given.contacts.listContacts({ workspaceId, limit: 1_000, cursor });
  expect(first.contacts.length + second.contacts.length).toBe(120);
  expect(second.nextCursor).toBeUndefined();
});
