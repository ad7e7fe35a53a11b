import { expect, test } from '@jest/globals';
import { memberWith, userClaims } from '../../../test/setup/service.ts';
import { givenLists, useService } from '../test/given.ts';

const permissions = { lists: { read: true, write: true }, contacts: { read: false, write: false } };
const given = useService(memberWith(permissions));

const email = 'ann@example.com';

async function subscribeAs(workspaceId: string, firstName: string): Promise<void> {
  const { lists } = given.as(userClaims());
  await lists.subscribeContact({ workspaceId, contact: { email, firstName }, listIds: ['a'] });
}

async function read(workspaceId: string) {
  const { contact } = await given.contacts.getContactByEmail({ workspaceId, email });
  return { firstName: contact?.firstName, lists: contact?.contactLists.length };
}

test('subscribe by a key without contacts:write creates a contact, and changes none', async () => {
  const workspaceId = await givenLists(given, 'a');
  await subscribeAs(workspaceId, 'Ann');
  expect(await read(workspaceId)).toEqual({ firstName: 'Ann', lists: 1 });
  await subscribeAs(workspaceId, 'Mallory');
  expect(await read(workspaceId)).toEqual({ firstName: 'Ann', lists: 1 });
});

test('subscribe by a key with contacts:write changes the contact, too', async () => {
  permissions.contacts = { read: true, write: true };
  const workspaceId = await givenLists(given, 'a');
  await subscribeAs(workspaceId, 'Ann');
  await subscribeAs(workspaceId, 'Anna');
  expect(await read(workspaceId)).toEqual({ firstName: 'Anna', lists: 1 });
});
