import { Code, ConnectError } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import type { Claims } from '#lib/keys/keyring.ts';
import { createAuthorize } from '../members/authorize.ts';
import { givenRoot, useService } from '../test/given.ts';
import { givenKey, givenWorkspace } from '../test/given-key.ts';
import { joined } from '../test/given-member.ts';

const given = useService();
let root: Claims;
let workspaceId: string;
let count = 0;
let ann: string;
let bob: string;
beforeEach(async () => {
  pass(61 * 60_000);
  count += 1;
  ann = `ann${count}@example.com`;
  bob = `bob${count}@example.com`;
  root = await givenRoot(given);
  workspaceId = await givenWorkspace(given, root);
  given.postbox.mails = [];
  given.postbox.fail = undefined;
});

function pass(ms: number): void {
  given.clock.now = new Date(given.clock.now.getTime() + ms);
}

async function roleOf({ subject, sessionId }: Claims): Promise<string> {
  return (await createAuthorize(given.context)(subject, sessionId, workspaceId)).role;
}

const shown = async () => (await given.members(root).listMembers({ id: workspaceId })).members;
const noMember = { code: Code.NotFound, rawMessage: 'Member not found' };

test('setUserPermissions counts at once, for members and keys, not for owners', async () => {
  const claims = await joined(given, { root, workspaceId }, ann);
  const { id } = await givenKey(given, root, { workspaceId });
  const permissions = { workspace: { read: true, write: false } };
  for (const userId of [claims.subject, id]) {
    await given.members(root).setUserPermissions({ workspaceId, userId, permissions });
  }
  const { permissions: now } = await createAuthorize(given.context)(
    claims.subject,
    claims.sessionId,
    workspaceId,
  );
  expect(Object.keys(now)).toEqual(['workspace']);
  const set = (over: object) =>
    given.members(root).setUserPermissions({ workspaceId, userId: id, permissions, ...over });
  await expect(set({ userId: root.subject })).rejects.toMatchObject({
    code: Code.FailedPrecondition,
  });
  await expect(set({ userId: crypto.randomUUID() })).rejects.toMatchObject(noMember);
  await expect(set({ permissions: {} })).rejects.toMatchObject({ code: Code.InvalidArgument });
  await expect(set({ permissions: { admin: { read: true } } })).rejects.toMatchObject({
    rawMessage: 'unknown resource in permissions: admin',
  });
});

test('an empty object denies all to keys and members, and an absent one to none', async () => {
  const { id: keyId } = await givenKey(given, root, { workspaceId });
  const claims = await joined(given, { root, workspaceId }, ann);
  const members = given.members(root);
  const permissionsOf = async (userId: string) => {
    const { members: all } = await members.listMembers({ id: workspaceId });
    const member = all.find((each) => each.userId === userId);
    return Object.values(member?.permissions ?? {}).filter(({ read, write }) => read || write);
  };
  expect(await permissionsOf(keyId)).toHaveLength(8);
  expect(await permissionsOf(claims.subject)).toHaveLength(8);
  const key = { workspaceId, emailPrefix: 'nothing', noPermissions: true };
  const { id } = await given.workspaces(root).createAPIKey(key);
  expect(await permissionsOf(id)).toEqual([]);
  const { invitation } = await members.inviteMember({
    workspaceId,
    email: bob,
    noPermissions: true,
  });
  expect(invitation?.permissions).toEqual({});
  for (const userId of [keyId, claims.subject]) {
    await members.setUserPermissions({ workspaceId, userId, noPermissions: true });
    expect(await permissionsOf(userId)).toEqual([]);
  }
});

test('no member but the owner changes members, whatever the permissions', async () => {
  const claims = await joined(given, { root, workspaceId }, ann);
  const members = given.members(claims);
  const userId = claims.subject;
  await members.listMembers({ id: workspaceId });
  for (const call of [
    () => members.inviteMember({ workspaceId, email: bob }),
    () => members.removeMember({ workspaceId, userId }),
    () => members.transferOwnership({ workspaceId, userId }),
    () => members.setUserPermissions({ workspaceId, userId, permissions: { lists: {} } }),
  ]) {
    expect(await call().catch(ConnectError.from)).toMatchObject({
      rawMessage: 'user is not an owner of the workspace',
    });
  }
});

test('removeMember ends access, revokes a key, and leaves other workspaces alone', async () => {
  const claims = await joined(given, { root, workspaceId }, ann);
  const key = await givenKey(given, root, { workspaceId });
  const foreign = await givenKey(given, root, { workspaceId: await givenWorkspace(given, root) });
  const remove = (userId: string) => given.members(root).removeMember({ workspaceId, userId });
  for (const userId of [foreign.id, 'nonsense', crypto.randomUUID()]) {
    await expect(remove(userId)).rejects.toMatchObject(noMember);
  }
  await remove(claims.subject);
  await remove(key.id);
  expect(await roleOf(claims)).toBe('');
  expect(await shown()).toHaveLength(1);
  const { active } = await createAuthorize(given.context)(key.id, key.claims.sessionId, '');
  expect(active).toBe(false);
});

test('the last owner cannot leave, and may after a transfer, as the new owner decides', async () => {
  const leave = (claims: Claims, userId: string) =>
    given.members(claims).removeMember({ workspaceId, userId });
  await expect(leave(root, root.subject)).rejects.toMatchObject({ code: Code.FailedPrecondition });
  const claims = await joined(given, { root, workspaceId }, ann);
  const transfer = given.members(root).transferOwnership({ workspaceId, userId: claims.subject });
  await transfer;
  expect([await roleOf(root), await roleOf(claims)]).toEqual(['member', 'owner']);
  await expect(leave(claims, claims.subject)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
  });
  await leave(claims, root.subject);
  expect(await roleOf(root)).toBe('');
});

test('concurrent transfers leave one owner', async () => {
  const [one, other] = [
    await joined(given, { root, workspaceId }, ann),
    await joined(given, { root, workspaceId }, bob),
  ];
  const all = await Promise.allSettled(
    [one, other].map(({ subject }) =>
      given.members(root).transferOwnership({ workspaceId, userId: subject }),
    ),
  );
  expect(all.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const roles = await Promise.all([root, one, other].map(roleOf));
  expect(roles.filter((role) => role === 'owner')).toHaveLength(1);
});

test('neither a key nor a user who is no member can become the owner', async () => {
  const { id } = await givenKey(given, root, { workspaceId });
  const transfer = (userId: string) =>
    given.members(root).transferOwnership({ workspaceId, userId });
  await expect(transfer(id)).rejects.toMatchObject({ code: Code.FailedPrecondition });
  await expect(transfer(root.subject)).rejects.toMatchObject({ code: Code.FailedPrecondition });
  await expect(transfer(crypto.randomUUID())).rejects.toMatchObject(noMember);
});
