import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { userClaims } from '../../../test/setup/service.ts';
import { type Given, givenLists, givenService } from '../test/given.ts';

let given: Given;
/** What the caller of the operation may do. */
const permissions = new Map<string, { read: boolean; write: boolean }>();
beforeAll(async () => {
  given = await givenService(async () => ({
    active: true,
    root: false,
    role: 'member',
    permissions: Object.fromEntries(
      [...permissions].map(([resource, permission]) => [
        resource,
        { $typeName: 'postrider.workspaces.v1.Permission', ...permission },
      ]),
    ),
  }));
});
afterAll(() => given.context.store.close());

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
  permissions.clear();
  permissions.set('lists', { read: true, write: true });
  const workspaceId = await givenLists(given, 'a');
  await subscribeAs(workspaceId, 'Ann');
  expect(await read(workspaceId)).toEqual({ firstName: 'Ann', lists: 1 });
  await subscribeAs(workspaceId, 'Mallory');
  expect(await read(workspaceId)).toEqual({ firstName: 'Ann', lists: 1 });
});

test('subscribe by a key with contacts:write changes the contact, too', async () => {
  permissions.set('lists', { read: true, write: true });
  permissions.set('contacts', { read: true, write: true });
  const workspaceId = await givenLists(given, 'a');
  await subscribeAs(workspaceId, 'Ann');
  await subscribeAs(workspaceId, 'Anna');
  expect(await read(workspaceId)).toEqual({ firstName: 'Anna', lists: 1 });
});
