import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { userClaims } from '../../../test/setup/service.ts';
import { givenLists, givenStatus, useService } from '../test/given.ts';

const given = useService();

test('matchMembers returns which addresses are in which lists, with any status, without removed ones', async () => {
  const workspaceId = await givenLists(given, 'news', 'offers');
  const add = (list: string, ...emails: string[]) =>
    given.contacts.importContacts({
      workspaceId,
      contacts: emails.map((email) => ({ email })),
      subscribeToLists: [list],
    });
  await add('news', 'a@example.com', 'gone@example.com');
  await givenStatus(given, { workspaceId, email: 'a@example.com', status: 'unsubscribed' });
  const removed = { workspaceId, email: 'gone@example.com', status: 'active', removed: true };
  await givenStatus(given, removed);
  await add('offers', 'a@example.com', 'b@example.com');
  const { members } = await given.audience.matchMembers({
    workspaceId,
    emails: ['unknown@example.com', 'b@example.com', 'a@example.com', 'gone@example.com'],
    listIds: ['nope', 'offers', 'news'],
  });
  const found = members.map(({ email, list }) => [email, list]).toSorted();
  expect(found).toEqual([
    [1, 1],
    [2, 1],
    [2, 2],
  ]);
});

test('matchMembers does not see members of another workspace', async () => {
  const other = await givenLists(given, 'news');
  const contacts = [{ email: 'a@example.com' }];
  await given.contacts.importContacts({
    workspaceId: other,
    contacts,
    subscribeToLists: ['news'],
  });
  const workspaceId = await givenLists(given, 'news');
  const asked = { workspaceId, emails: ['a@example.com'], listIds: ['news'] };
  expect((await given.audience.matchMembers(asked)).members).toEqual([]);
});

test('matchMembers is refused to users', async () => {
  const { audience } = given.as(userClaims());
  await expect(
    audience.matchMembers({ workspaceId: 'w', emails: ['a@example.com'], listIds: ['news'] }),
  ).rejects.toMatchObject({ code: Code.PermissionDenied });
});
