import { Code } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import type { Claims } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import { createAuthorize } from '../members/authorize.ts';
import { givenRoot, useService } from '../test/given.ts';
import { givenKey, givenWorkspace } from '../test/given-key.ts';
import { invited, joined, runJobs, signedIn } from '../test/given-member.ts';

const given = useService();
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

async function roleOf({ subject, sessionId }: Claims): Promise<string> {
  return (await createAuthorize(given.context)(subject, sessionId, workspaceId)).role;
}

const shown = async () => (await given.members(root).listMembers({ id: workspaceId })).members;
const notFound = { code: Code.NotFound, rawMessage: 'Invitation not found' };

test('an invited person signs in and joins with the permissions of the invitation', async () => {
  const permissions = { contacts: { read: true, write: false } };
  const token = await invited(given, { root, workspaceId }, { email: ann, permissions });
  expect(
    (await shown()).map(({ email, role, invitationId }) => [email, role, invitationId !== '']),
  ).toEqual([
    ['root@example.com', 'owner', false],
    [ann, 'member', true],
  ]);
  const claims = await signedIn(given, ann);
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

test('a name of a workspace is no link in the mail of an invitation', async () => {
  const name = 'Win https://evil.example/a@b';
  const id = await givenWorkspace(given, root, name);
  await invited(given, { root, workspaceId: id }, { email: ann });
  const [mail] = given.postbox.mails;
  for (const text of [mail?.subject ?? '', mail?.text ?? '']) {
    expect(text).toContain('Win https evil example a b');
    expect(text).not.toMatch(/evil\.|\/\/evil|@evil/);
  }
});

test('an invitation works once, even for concurrent uses', async () => {
  const token = await invited(given, { root, workspaceId }, { email: ann });
  const claims = await signedIn(given, ann);
  const members = given.members(claims);
  const all = await Promise.allSettled([1, 2, 3].map(() => members.acceptInvitation({ token })));
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await given.members(root).removeMember({ workspaceId, userId: claims.subject });
  await expect(members.acceptInvitation({ token })).rejects.toMatchObject(notFound);
  expect(await roleOf(claims)).toBe('');
});

test('an invitation is for its address alone', async () => {
  const token = await invited(given, { root, workspaceId }, { email: ann });
  await joined(given, { root, workspaceId }, bob);
  const outsider = await signedIn(given, bob);
  const key = await givenKey(given, root, { workspaceId: await givenWorkspace(given, root) });
  await query(given.context.store.fork(), 'update users set email = $2 where id = $1', [
    key.id,
    ann,
  ]);
  for (const claims of [outsider, key.claims, root]) {
    const accepted = given.members(claims).acceptInvitation({ token });
    await expect(accepted).rejects.toMatchObject(notFound);
  }
  await given.members(await signedIn(given, ann)).acceptInvitation({ token });
});

test('an invitation ends after seven days, by a newer one, and by its withdrawal', async () => {
  const first = await invited(given, { root, workspaceId }, { email: ann });
  const second = await invited(given, { root, workspaceId }, { email: ann });
  const accept = async (token: string) =>
    given.members(await signedIn(given, ann)).acceptInvitation({ token });
  await expect(accept(first)).rejects.toMatchObject(notFound);
  const [, open] = await shown();
  const request = { workspaceId, invitationId: open?.invitationId ?? '' };
  const other = await givenWorkspace(given, root);
  const foreign = given.members(root).deleteInvitation({ ...request, workspaceId: other });
  await expect(foreign).rejects.toMatchObject(notFound);
  const late = await invited(given, { root, workspaceId }, { email: bob });
  const bobs = await signedIn(given, bob);
  await given.members(root).deleteInvitation(request);
  await expect(accept(second)).rejects.toMatchObject(notFound);
  pass(7 * dayMs);
  root = await givenRoot(given);
  const fresh = await signedIn(given, bob);
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
  await runJobs(given);
  const token = /\.([\w-]{43})/.exec(given.postbox.mails[0]?.text ?? '')?.[1] ?? 'none';
  const text = JSON.stringify([answer, rows], (_, value) =>
    typeof value === 'bigint' ? `${value}` : value,
  );
  expect(text).not.toContain(token);
});

test('the mail is in the language of the invitation, with names on one line', async () => {
  await given
    .workspaces(root)
    .updateWorkspace({ id: workspaceId, name: 'A\r\nBcc: x', settings: {} });
  await invited(given, { root, workspaceId }, { email: ann, language: 'de-AT' });
  expect(given.postbox.mails[0]).toMatchObject({
    subject: 'Sie sind zu A Bcc: x eingeladen',
    text: expect.stringContaining('root@example.com lädt Sie'),
  });
});

test('an address gets five invitations of a workspace in an hour, and another invites it still', async () => {
  const invite = () => given.members(root).inviteMember({ workspaceId, email: ann });
  for (let n = 0; n < 5; n += 1) await invite();
  await expect(invite()).rejects.toMatchObject({ code: Code.ResourceExhausted });
  await runJobs(given);
  // The others were replaced before they were mailed.
  expect(given.postbox.mails).toHaveLength(1);
  const other = await givenWorkspace(given, root);
  await given.members(root).inviteMember({ workspaceId: other, email: ann });
});
