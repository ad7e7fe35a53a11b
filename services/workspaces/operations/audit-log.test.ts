import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, expect, test } from '@jest/globals';
import type { AuditEntry } from '#gen/postrider/workspaces/v1/audit_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { createLog } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import { clearAudit } from '../tasks/clear-audit.ts';
import { givenRoot, provider, rootEmail, useService } from '../test/given.ts';
import { givenKey, givenWorkspace } from '../test/given-key.ts';
import { joined } from '../test/given-member.ts';

const given = useService();
let root: Claims;
let workspaceId: string;
beforeEach(async () => {
  given.clock.now = new Date(given.clock.now.getTime() + 2_000);
  root = await givenRoot(given);
  workspaceId = await givenWorkspace(given, root);
});

const entries = async (over: object = {}): Promise<AuditEntry[]> =>
  (await given.audit(root).listAuditLog({ workspaceId, ...over })).entries;
const latest = async (): Promise<AuditEntry> => {
  const [entry] = await entries();
  if (!entry) throw new Error('the log is empty');
  return entry;
};
const writeOld = (days: number, id = crypto.randomUUID()) =>
  query(
    given.context.store.fork(),
    `insert into audit_entries (workspace_id, id, created_at, actor_type, actor_id, actor_name, action, target_id,
       client_address, request_id)
     values ($1, $2, now() - $3 * interval '1 day', 'service', 'test', '', 'old', '', '', '')`,
    [workspaceId, id, days],
  );

test('an entry says who changed what, when, from where and by which request', async () => {
  const from = { 'x-client-address': '203.0.113.9', 'x-request-id': 'request-1' };
  const sent = new Date();
  await given.workspaces(root, from).updateWorkspace({
    id: workspaceId,
    name: 'Renamed',
    settings: { timezone: 'Europe/Paris' },
  });
  const { createdAt, ...entry } = await latest();
  expect(createdAt && timestampDate(createdAt).getTime()).toBeGreaterThanOrEqual(sent.getTime());
  expect(entry).toMatchObject({
    actorType: 'user',
    actorId: root.subject,
    actorName: rootEmail,
    action: 'workspaces.update',
    targetId: '',
    requestId: 'request-1',
    before: { name: 'Acme', timezone: 'UTC' },
    after: { name: 'Renamed', timezone: 'Europe/Paris' },
  });
});

test('an entry about the whole installation is in the log of every workspace, without the address of the operator', async () => {
  const other = await givenWorkspace(given, root);
  const entry = {
    id: crypto.randomUUID(),
    createdAt: timestampFromDate(new Date()),
    actorType: 'user',
    actorId: root.subject,
    action: 'system.placeHold',
    clientAddress: '203.0.113.9',
    after: { reason: 'restored' },
  };
  for (let round = 0; round < 2; round += 1) {
    await given.auditService.recordAuditEntries({ entries: [{ workspaceId: '*', entry }] });
  }
  for (const id of [workspaceId, other]) {
    const { entries: all } = await given.audit(root).listAuditLog({ workspaceId: id });
    const holds = all.filter(({ action }) => action === 'system.placeHold');
    expect(holds).toMatchObject([
      {
        actorId: root.subject,
        actorName: '',
        clientAddress: '',
        after: { reason: 'restored' },
      },
    ]);
  }
});

test('a password is said to have changed, and shown nowhere', async () => {
  const { integrationId } = await given
    .workspaces(root)
    .createIntegration({ workspaceId, name: 'SMTP', type: 'email', provider });
  const smtp = { ...provider.smtp, password: 'another-pass' };
  const changed = { ...provider, smtp, rateLimitPerMinute: 5 };
  await given
    .workspaces(root)
    .updateIntegration({ workspaceId, integrationId, name: 'SMTP', provider: changed });
  const { action, targetId, before, after } = await latest();
  expect({ action, targetId }).toEqual({
    action: 'workspaces.updateIntegration',
    targetId: integrationId,
  });
  expect(before).toMatchObject({ password: 'kept', rate_limit_per_minute: 1000 });
  expect(after).toMatchObject({ password: 'changed', rate_limit_per_minute: 5 });
  const nullFields = {
    paths: ['marketing_email_provider_id', 'transactional_email_provider_id'],
  };
  await given
    .workspaces(root)
    .updateWorkspace({ id: workspaceId, name: 'Acme', settings: { nullFields } });
  await given.workspaces(root).deleteIntegration({ workspaceId, integrationId });
  const all = JSON.stringify(
    await query(given.context.store.fork(), 'select * from audit_entries', []),
  );
  expect(all).not.toMatch(/pass-word|another-pass|sealed/);
});

test('members, keys and permissions are in the log, with the names of those who acted', async () => {
  const person = await joined(given, { root, workspaceId }, `audit${workspaceId}@example.com`);
  await given.members(root).setUserPermissions({
    workspaceId,
    userId: person.subject,
    permissions: { lists: { read: true, write: false } },
  });
  expect(await latest()).toMatchObject({
    targetId: person.subject,
    after: { lists: 'read' },
    before: { lists: 'read, write' },
  });
  const key = await givenKey(given, root, { workspaceId });
  await given.keys(root).rotateAPIKey({ workspaceId, id: key.id });
  await given.keys(root).revokeAPIKey({ workspaceId, id: key.id });
  await given.sessions(person).logout({});
  await given.members(root).removeMember({ workspaceId, userId: person.subject });
  expect((await entries()).map(({ action, actorName }) => [action, actorName])).toEqual([
    ['workspaces.removeMember', rootEmail],
    ['user.logout', `audit${workspaceId}@example.com`],
    ['workspaces.revokeAPIKey', rootEmail],
    ['workspaces.rotateAPIKey', rootEmail],
    ['workspaces.createAPIKey', rootEmail],
    ['workspaces.setUserPermissions', rootEmail],
    ['workspaces.acceptInvitation', `audit${workspaceId}@example.com`],
    ['workspaces.inviteMember', rootEmail],
    ['workspaces.create', rootEmail],
  ]);
});

test('a sign-in is in the log of each workspace that it opens', async () => {
  await givenRoot(given).catch(() => {});
  given.clock.now = new Date(given.clock.now.getTime() + 2_000);
  await givenRoot(given);
  expect(await latest()).toMatchObject({ action: 'user.rootSignin', actorId: root.subject });
});

test('refused changes are not in the log', async () => {
  const count = (await entries()).length;
  const settings = { timezone: 'Nowhere' };
  const refused = given.workspaces(root).updateWorkspace({ id: workspaceId, name: 'x', settings });
  await expect(refused).rejects.toThrow('invalid timezone');
  expect(await entries()).toHaveLength(count);
});

test('pages follow each other without gaps, by actor, action and time', async () => {
  for (let at = 0; at < 7; at += 1)
    await given.workspaces(root).rotateEmailHmacKey({ workspaceId });
  const actions = { action: 'workspaces.rotateEmailHmacKey', actorId: root.subject };
  const ids: string[] = [];
  let cursor = '';
  do {
    const page = await given
      .audit(root)
      .listAuditLog({ workspaceId, ...actions, limit: 3, cursor });
    ids.push(...page.entries.map(({ id }) => id));
    cursor = page.nextCursor ?? '';
  } while (cursor !== '');
  expect(ids).toEqual((await entries(actions)).map(({ id }) => id));
  expect(ids).toHaveLength(7);
  expect(await entries({ until: timestampFromDate(new Date(0)) })).toEqual([]);
  expect(await entries({ since: timestampFromDate(new Date(Date.now() + 60_000)) })).toEqual([]);
  expect(await entries({ actorId: 'somebody' })).toEqual([]);
  await expect(entries({ cursor: 'x' })).rejects.toThrow('invalid cursor');
});

test('a page has at most a mebibyte, and never none', async () => {
  const entry = {
    actorType: 'service',
    actorId: 'test',
    action: 'big',
    requestId: '',
    targetId: '',
  };
  const large = Array.from({ length: 5 }, () => ({
    workspaceId,
    entry: {
      ...entry,
      id: crypto.randomUUID(),
      createdAt: timestampFromDate(new Date()),
      after: { text: 'x'.repeat(400_000) },
    },
  }));
  const service = given.auditService;
  await service.recordAuditEntries({ entries: large });
  await service.recordAuditEntries({ entries: large });
  const counts: number[] = [];
  let cursor = '';
  do {
    const page = await given.audit(root).listAuditLog({ workspaceId, action: 'big', cursor });
    counts.push(page.entries.length);
    cursor = page.nextCursor ?? '';
  } while (cursor !== '');
  expect(counts).toEqual([2, 2, 1]);
});

test('entries are kept as they are, and go when their time is over', async () => {
  const em = given.context.store.fork();
  const refusal = 'the audit log is append-only';
  await writeOld(1);
  await expect(query(em, "update audit_entries set action = ''", [])).rejects.toThrow(refusal);
  await expect(query(em, 'delete from audit_entries', [])).rejects.toThrow(refusal);
  await expect(query(em, 'truncate audit_entries', [])).rejects.toThrow(refusal);
  await writeOld(40);
  await writeOld(366);
  const old = async () => (await entries({ action: 'old' })).length;
  await clearAudit(given.context, { log: createLog('test', 'silent') })();
  expect(await old()).toBe(2);
  const settings = { auditRetentionDays: 30 };
  await given.workspaces(root).updateWorkspace({ id: workspaceId, name: 'Acme', settings });
  await clearAudit(given.context, { log: createLog('test', 'silent') })();
  expect(await old()).toBe(1);
});

test.each([29, 3_651])('%d days are no retention', async (auditRetentionDays) => {
  const update = given
    .workspaces(root)
    .updateWorkspace({ id: workspaceId, name: 'Acme', settings: { auditRetentionDays } });
  await expect(update).rejects.toThrow('audit retention must be between 30 and 3650 days');
});

test('only the owner reads the log', async () => {
  const person = await joined(given, { root, workspaceId }, `reader${workspaceId}@example.com`);
  await expect(given.audit(person).listAuditLog({ workspaceId })).rejects.toThrow(
    'user is not an owner of the workspace',
  );
});
