import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import type { ExportedMember } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { memberWith, userClaims } from '../../../test/setup/service.ts';
import { givenDeletedList, givenLists, useService } from '../test/given.ts';

const given = useService();
const member = useService(memberWith({ contacts: { read: true } }));

async function exported(
  workspaceId: string,
  status: MembershipStatus = MembershipStatus.UNSPECIFIED,
) {
  const members: ExportedMember[] = [];
  const sizes: number[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page = await given.lists.exportList({ workspaceId, listId: 'news', status, cursor });
    members.push(...page.members);
    sizes.push(page.members.length);
    cursor = page.nextCursor;
  }
  return { members, sizes, emails: members.map(({ contact }) => contact?.email) };
}

const importInto = (workspaceId: string, contacts: object[]) =>
  given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['news'] });

test('an export of a list has every field of its members, by address', async () => {
  const workspaceId = await givenLists(given, 'news', 'other');
  const fields = { firstName: 'Bob', customNumber1: -1.5, customJson1: { a: [1] } };
  await importInto(workspaceId, [
    { email: 'bob@example.com', ...fields },
    { email: 'ann@example.com', status: MembershipStatus.BOUNCED },
  ]);
  await given.contacts.importContacts({
    workspaceId,
    contacts: [{ email: 'c@example.com' }],
    subscribeToLists: ['other'],
  });
  const { members } = await exported(workspaceId);
  expect(members).toMatchObject([
    { contact: { email: 'ann@example.com' }, status: MembershipStatus.BOUNCED },
    { contact: { email: 'bob@example.com', ...fields }, status: MembershipStatus.ACTIVE },
  ]);
  expect(members[0]?.joinedAt).toBeDefined();
  expect(members[0]?.statusChangedAt).toBeDefined();
});

test('an export of a list goes page by page, also where few members have the status', async () => {
  const workspaceId = await givenLists(given, 'news');
  const name = (at: number) => `user${String(at).padStart(4, '0')}@example.com`;
  const contacts = Array.from({ length: 2_500 }, (_, at) => ({
    email: name(at),
    status: at === 2_400 ? MembershipStatus.COMPLAINED : MembershipStatus.ACTIVE,
  }));
  await importInto(workspaceId, contacts);
  const all = await exported(workspaceId);
  expect(all.sizes).toEqual([1_000, 1_000, 500]);
  expect(all.emails).toEqual(contacts.map(({ email }) => email));
  const some = await exported(workspaceId, MembershipStatus.COMPLAINED);
  expect([some.sizes, some.emails]).toEqual([[0, 0, 1], [name(2_400)]]);
});

test('a page of an export ends at 4 MiB', async () => {
  const workspaceId = await givenLists(given, 'news');
  const json = { text: 'x'.repeat(60_000) };
  const large = { customJson1: json, customJson2: json, customJson3: json, customJson4: json };
  const contacts = Array.from({ length: 40 }, (_, at) => ({
    email: `u${at}@example.com`,
    ...large,
  }));
  await importInto(workspaceId, contacts);
  const { sizes, emails } = await exported(workspaceId);
  expect(sizes.length).toBeGreaterThan(2);
  expect(new Set(emails).size).toBe(40);
});

test('removed members and deleted contacts are in no export', async () => {
  const workspaceId = await givenLists(given, 'news');
  const emails = ['a@example.com', 'b@example.com', 'c@example.com'];
  await importInto(
    workspaceId,
    emails.map((email) => ({ email })),
  );
  const [removed = '', deleted = '', left] = emails;
  await given.contactLists.removeContactFromList({ workspaceId, listId: 'news', email: removed });
  await given.contacts.deleteContact({ workspaceId, email: deleted });
  expect((await exported(workspaceId)).emails).toEqual([left]);
});

test('an export refuses lists that are not there, and other cursors', async () => {
  const workspaceId = await givenLists(given, 'news', 'gone');
  const list = (listId: string, cursor = '') =>
    given.lists.exportList({ workspaceId, listId, cursor });
  await givenDeletedList(given, { workspaceId, id: 'gone' });
  for (const id of ['none', 'gone']) {
    await expect(list(id)).rejects.toMatchObject({ rawMessage: 'List not found' });
  }
  await expect(list('news', 'AAAA')).rejects.toMatchObject({ code: Code.InvalidArgument });
});

test('an export of a list needs read access to lists as well', async () => {
  const { lists } = member.as(userClaims());
  const refused = lists.exportList({ workspaceId: 'w1', listId: 'news' });
  await expect(refused).rejects.toMatchObject({ code: Code.PermissionDenied });
});
