import { Code } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { Claims } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import { createAuthorize } from '../members/authorize.ts';
import { continueDeletions } from '../tasks/continue-deletions.ts';
import { eraseWorkspace } from '../tasks/erase-workspace.ts';
import { givenRoot, provider, useService } from '../test/given.ts';
import { givenKey, givenWorkspace } from '../test/given-key.ts';
import { invited, joined, signedIn } from '../test/given-member.ts';

const given = useService();
let root: Claims;
let workspaceId: string;
beforeEach(async () => {
  given.clock.now = new Date(given.clock.now.getTime() + 2_000);
  root = await givenRoot(given);
  workspaceId = await givenWorkspace(given, root);
});

const remove = (claims = root) => given.deletions(claims).deleteWorkspace({ id: workspaceId });
const roleOf = ({ subject, sessionId }: Claims) =>
  createAuthorize(given.context)(subject, sessionId, workspaceId);
const jobs = () =>
  query<{ key: string }>(
    given.context.store.fork(),
    `select key from workspaces_jobs.jobs where key like 'erase %' order by key`,
    [],
  );

test('a deleted workspace has no members, keys, invitations or integrations any more', async () => {
  const email = `doomed${workspaceId}@example.com`;
  const person = await joined(given, { root, workspaceId }, email);
  const key = await givenKey(given, root, { workspaceId });
  const late = `late${workspaceId}@example.com`;
  const token = await invited(given, { root, workspaceId }, { email: late });
  const lateClaims = await signedIn(given, late);
  const { integrationId } = await given
    .workspaces(root)
    .createIntegration({ workspaceId, name: 'SMTP', type: 'email', provider });
  expect(await remove()).toMatchObject({ status: 'success' });
  expect(await roleOf(root)).toMatchObject({ active: true, role: '' });
  expect(await roleOf(person)).toMatchObject({ active: true, role: '' });
  expect(await roleOf(key.claims)).toMatchObject({ active: false });
  const accepting = given.members(lateClaims).acceptInvitation({ token });
  await expect(accepting).rejects.toThrow('Invitation not found');
  const { workspaces } = await given.workspaces(root).listWorkspaces({});
  expect(workspaces.map(({ id }) => id)).not.toContain(workspaceId);
  const directory = given.directory;
  await expect(directory.getSettings({ workspaceId })).rejects.toMatchObject({
    code: Code.NotFound,
  });
  await expect(directory.getIntegration({ workspaceId, integrationId })).rejects.toMatchObject({
    code: Code.NotFound,
  });
});

test('a member and a key may not delete a workspace, and nobody deletes one twice', async () => {
  const person = await joined(given, { root, workspaceId }, `m${workspaceId}@example.com`);
  const key = await givenKey(given, root, { workspaceId });
  for (const claims of [person, key.claims]) {
    await expect(remove(claims)).rejects.toThrow('user is not an owner of the workspace');
  }
  await remove();
  await expect(remove()).rejects.toMatchObject({ code: Code.PermissionDenied });
});

test('the job that erases commits with the deletion, and a lost one is added again', async () => {
  await remove();
  expect(await jobs()).toContainEqual({ key: `erase ${workspaceId}` });
  await query(given.context.store.fork(), 'delete from workspaces_jobs._private_jobs', []);
  await continueDeletions(given.context)();
  expect(await jobs()).toContainEqual({ key: `erase ${workspaceId}` });
});

test('a round that waits keeps its time when lost ones are looked for', async () => {
  await remove();
  const runAt = async () => {
    const [job] = await query<{ run_at: string }>(
      given.context.store.fork(),
      "select run_at::text from workspaces_jobs.jobs where key = 'erase ' || $1",
      [workspaceId],
    );
    return job?.run_at;
  };
  await query(
    given.context.store.fork(),
    "update workspaces_jobs._private_jobs set run_at = now() + interval '5 minutes' where key = 'erase ' || $1",
    [workspaceId],
  );
  const before = await runAt();
  await continueDeletions(given.context)();
  expect(await runAt()).toBe(before);
});

test('a round whose process was killed has another within a minute', async () => {
  await remove();
  const ofWorkspace = "payload->>'id' = $1";
  const em = () => given.context.store.fork();
  await query(
    em(),
    `update workspaces_jobs._private_jobs set locked_at = now() - interval '30 seconds', locked_by = 'gone' where ${ofWorkspace}`,
    [workspaceId],
  );
  await continueDeletions(given.context)();
  const waiting = await query(
    em(),
    `select 1 from workspaces_jobs._private_jobs where ${ofWorkspace} and locked_at is null and run_at <= now()`,
    [workspaceId],
  );
  expect(waiting).toHaveLength(1);
});

test('rows that calls in flight write after the first round are erased within seconds', async () => {
  await remove();
  const { store } = given.context;
  const { clock } = given;
  const round = eraseWorkspace(
    { ...given.context, dataServices: {} },
    { log: pino({ enabled: false }) },
  );
  const waitsS: number[] = [];
  for (let count = 0; count < 12; count++) {
    await query(store.fork(), 'delete from workspaces_jobs._private_jobs', []);
    await round({ id: workspaceId });
    const [job] = await query<{ run_at: string }>(
      store.fork(),
      "select run_at from workspaces_jobs.jobs where key = 'erase ' || $1",
      [workspaceId],
    );
    if (!job) break;
    const runAt = new Date(job.run_at);
    waitsS.push((runAt.getTime() - clock.now.getTime()) / 1_000);
    clock.now = runAt;
  }
  expect(waitsS).toEqual([1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 148]);
  expect(await given.deletions(root).getDeletion({ id: workspaceId })).toMatchObject({
    status: 'done',
  });
});

test('only root and who deleted a workspace learn of its deletion', async () => {
  const email = `boss${workspaceId}@example.com`;
  const boss = await joined(given, { root, workspaceId }, email);
  await given.members(root).transferOwnership({ workspaceId, userId: boss.subject });
  const outsider = await joined(
    given,
    { root, workspaceId: await givenWorkspace(given, root) },
    `s${workspaceId}@example.com`,
  );
  const ask = (claims: Claims) => given.deletions(claims).getDeletion({ id: workspaceId });
  await expect(ask(boss)).rejects.toThrow('Deletion not found');
  await given.deletions(boss).deleteWorkspace({ id: workspaceId });
  for (const claims of [boss, root]) expect(await ask(claims)).toMatchObject({ status: 'erasing' });
  await expect(ask(outsider)).rejects.toThrow('Deletion not found');
});

test('entries that come late are dropped', async () => {
  await remove();
  const entry = { id: crypto.randomUUID(), createdAt: { seconds: 0n, nanos: 0 }, action: 'late' };
  await given.auditService.recordAuditEntries({ entries: [{ workspaceId, entry }] });
  const rows = await query(
    given.context.store.fork(),
    "select 1 from audit_entries where workspace_id = $1 and action = 'late'",
    [workspaceId],
  );
  expect(rows).toEqual([]);
});
