import { Code, ConnectError } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import type { Claims } from '#lib/keys/keyring.ts';
import { createLog } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import { createAuthorize } from '../members/authorize.ts';
import { sendInvitation } from '../tasks/send-invitation.ts';
import { sendSignInCode } from '../tasks/send-sign-in-code.ts';
import { givenRoot, useService } from '../test/given.ts';
import { claimsOf, givenKey, givenWorkspace } from '../test/given-key.ts';

const given = useService();
const log = createLog('test', 'silent');
const dayMs = 24 * 60 * 60_000;
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

/** Runs the jobs that wait. */
async function runJobs(): Promise<void> {
  const rows = await query<{ task: string; payload: unknown }>(
    given.context.store.fork(),
    `with done as (delete from workspaces_jobs._private_jobs returning task_id, payload)
     select identifier as task, payload from done
     join workspaces_jobs._private_tasks tasks on tasks.id = task_id`,
    [],
  );
  const tasks: Record<string, (payload: unknown) => Promise<void>> = {
    sendInvitation: sendInvitation(given.context, { log }),
    sendSignInCode: sendSignInCode(given.context, { log }),
  };
  for (const { task, payload } of rows) await tasks[task]?.(payload);
}

/** Signs a person in by code. */
async function signedIn(email: string): Promise<Claims> {
  await given.sessions().signIn({ email });
  await runJobs();
  const mail = given.postbox.mails.findLast(
    ({ to, key }) => to === email && key.startsWith('sign-in'),
  );
  const code = /\b\d{6}\b/.exec(mail?.text ?? '')?.[0] ?? '';
  return claimsOf((await given.sessions().verifyCode({ email, code })).token);
}

type Invited = {
  permissions?: Record<string, { read: boolean; write: boolean }>;
  language?: string;
};

/** Invites an address and returns the token of the mail. */
async function invited(email: string, over: Invited = {}): Promise<string> {
  await given.members(root).inviteMember({ workspaceId, email, ...over });
  await runJobs();
  const mail = given.postbox.mails.findLast(({ key }) => key.startsWith('invitation'));
  expect(mail?.to).toBe(email);
  return new RegExp(`${workspaceId}\\.[\\w-]{43}`).exec(mail?.text ?? '')?.[0] ?? '';
}

async function joined(email: string, over: Invited = {}): Promise<Claims> {
  const token = await invited(email, over);
  const claims = await signedIn(email);
  await given.members(claims).acceptInvitation({ token });
  return claims;
}

async function roleOf({ subject, sessionId }: Claims): Promise<string> {
  return (await createAuthorize(given.context)(subject, sessionId, workspaceId)).role;
}

const shown = async () => (await given.members(root).listMembers({ id: workspaceId })).members;
const notFound = { code: Code.NotFound, rawMessage: 'Invitation not found' };
const noMember = { code: Code.NotFound, rawMessage: 'Member not found' };

test('an invited person signs in and joins with the permissions of the invitation', async () => {
  const permissions = { contacts: { read: true, write: false } };
  const token = await invited(ann, { permissions });
  expect(
    (await shown()).map(({ email, role, invitationId }) => [email, role, invitationId !== '']),
  ).toEqual([
    ['root@example.com', 'owner', false],
    [ann, 'member', true],
  ]);
  const claims = await signedIn(ann);
  expect(await roleOf(claims)).toBe('');
  const accepted = await given.members(claims).acceptInvitation({ token });
  expect(accepted).toMatchObject({ status: 'success', workspaceId });
  const [, member] = await shown();
  expect(member).toMatchObject({
    userId: claims.subject,
    email: ann,
    invitationId: '',
    permissions,
  });
  expect(member?.invitationExpiresAt).toBeUndefined();
  await expect(given.members(root).inviteMember({ workspaceId, email: ann })).rejects.toMatchObject(
    {
      code: Code.AlreadyExists,
    },
  );
});

test('an invitation works once, even for concurrent uses', async () => {
  const token = await invited(ann);
  const claims = await signedIn(ann);
  const members = given.members(claims);
  const all = await Promise.allSettled([1, 2, 3].map(() => members.acceptInvitation({ token })));
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await given.members(root).removeMember({ workspaceId, userId: claims.subject });
  await expect(members.acceptInvitation({ token })).rejects.toMatchObject(notFound);
  expect(await roleOf(claims)).toBe('');
});

test('an invitation is for its address alone', async () => {
  const token = await invited(ann);
  await joined(bob);
  const stranger = await signedIn(bob);
  const key = await givenKey(given, root, { workspaceId: await givenWorkspace(given, root) });
  await query(given.context.store.fork(), 'update users set email = $2 where id = $1', [
    key.id,
    ann,
  ]);
  for (const claims of [stranger, key.claims, root]) {
    const accepted = given.members(claims).acceptInvitation({ token });
    await expect(accepted).rejects.toMatchObject(notFound);
  }
  await given.members(await signedIn(ann)).acceptInvitation({ token });
});

test('an invitation ends after seven days, by a newer one, and by its withdrawal', async () => {
  const first = await invited(ann);
  const second = await invited(ann);
  const accept = async (token: string) =>
    given.members(await signedIn(ann)).acceptInvitation({ token });
  await expect(accept(first)).rejects.toMatchObject(notFound);
  const [, open] = await shown();
  const request = { workspaceId, invitationId: open?.invitationId ?? '' };
  const other = await givenWorkspace(given, root);
  const foreign = given.members(root).deleteInvitation({ ...request, workspaceId: other });
  await expect(foreign).rejects.toMatchObject(notFound);
  const late = await invited(bob);
  const bobs = await signedIn(bob);
  await given.members(root).deleteInvitation(request);
  await expect(accept(second)).rejects.toMatchObject(notFound);
  pass(7 * dayMs);
  root = await givenRoot(given);
  const fresh = await signedIn(bob);
  expect(fresh.subject).toBe(bobs.subject);
  await expect(given.members(fresh).acceptInvitation({ token: late })).rejects.toMatchObject(
    notFound,
  );
  expect(await shown()).toHaveLength(1);
});

test.each(['nonsense', '.', 'w1.', `k1.${'a'.repeat(43)}`])(
  'the token %j is refused',
  async (token) => {
    await expect(given.members(root).acceptInvitation({ token })).rejects.toMatchObject(notFound);
  },
);

test('the token of an invitation is stored as a hash, and is in no answer', async () => {
  const answer = await given.members(root).inviteMember({ workspaceId, email: ann });
  const rows = await query<{ payload: unknown }>(
    given.context.store.fork(),
    'select payload from workspaces_jobs._private_jobs',
    [],
  );
  await runJobs();
  const token = /\.([\w-]{43})/.exec(given.postbox.mails[0]?.text ?? '')?.[1] ?? 'none';
  const text = JSON.stringify([answer, rows], (_, value) =>
    typeof value === 'bigint' ? `${value}` : value,
  );
  expect(text).not.toContain(token);
});

test('the mail speaks the language of the invitation, and holds nobody to a name of many lines', async () => {
  await given
    .workspaces(root)
    .updateWorkspace({ id: workspaceId, name: 'A\r\nBcc: x', settings: {} });
  await invited(ann, { language: 'de-AT' });
  expect(given.postbox.mails[0]).toMatchObject({
    subject: 'Sie sind zu A Bcc: x eingeladen',
    text: expect.stringContaining('root@example.com lädt Sie'),
  });
});

test('an address gets five invitations in an hour', async () => {
  const invite = () => given.members(root).inviteMember({ workspaceId, email: ann });
  for (let n = 0; n < 5; n += 1) await invite();
  await expect(invite()).rejects.toMatchObject({ code: Code.ResourceExhausted });
  await runJobs();
  // The others were replaced before they were mailed.
  expect(given.postbox.mails).toHaveLength(1);
});

test('setUserPermissions counts at once, for members and keys, not for owners', async () => {
  const claims = await joined(ann);
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

test('no member but the owner changes members, whatever the permissions', async () => {
  const claims = await joined(ann);
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
  const claims = await joined(ann);
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
  const claims = await joined(ann);
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
  const [one, other] = [await joined(ann), await joined(bob)];
  const all = await Promise.allSettled(
    [one, other].map(({ subject }) =>
      given.members(root).transferOwnership({ workspaceId, userId: subject }),
    ),
  );
  expect(all.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const roles = await Promise.all([root, one, other].map(roleOf));
  expect(roles.filter((role) => role === 'owner')).toHaveLength(1);
});

test('neither a key nor a stranger can become the owner', async () => {
  const { id } = await givenKey(given, root, { workspaceId });
  const transfer = (userId: string) =>
    given.members(root).transferOwnership({ workspaceId, userId });
  await expect(transfer(id)).rejects.toMatchObject({ code: Code.FailedPrecondition });
  await expect(transfer(root.subject)).rejects.toMatchObject({ code: Code.FailedPrecondition });
  await expect(transfer(crypto.randomUUID())).rejects.toMatchObject(noMember);
});
