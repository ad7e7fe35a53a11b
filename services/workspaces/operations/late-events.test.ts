import { createHash } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, expect, test } from '@jest/globals';
import { EraseWorkspaceResponseSchema } from '#gen/postrider/events/v1/events_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import { changingCalls } from '../../../test/setup/changing-calls.ts';
import { eraseEverywhere } from '../deletion/erase.ts';
import { services } from '../service.ts';
import { eraseWorkspace } from '../tasks/erase-workspace.ts';
import { givenRoot, useService } from '../test/given.ts';
import { givenWorkspace } from '../test/given-key.ts';

// This service consumes no events. Other services change it by calls, and its own jobs erase; both
// may come late.

const given = useService();
const log = { info: () => {}, warn: () => {} } as never;
let root: Claims;
let id: string;
beforeEach(async () => {
  pass(1);
  root = await givenRoot(given);
  id = await givenWorkspace(given, root);
});

function pass(minutes: number): void {
  given.clock.now = new Date(given.clock.now.getTime() + minutes * 60_000);
}

const round = () => eraseWorkspace(given.context, { log })({ id });
const rowsOf = (sql: string) => query(given.context.store.fork(), sql, [id]);
const workspace = () => rowsOf('select name, created_at, deleted_at from workspaces where id = $1');

/**
 * Deletes the workspace, erases it, and makes another one with its id. Returns when the first was
 * deleted.
 */
async function givenSuccessor(): Promise<Date> {
  const deletedAt = given.clock.now;
  await given.deletions(root).deleteWorkspace({ id });
  pass(12);
  await round();
  await given.workspaces(root).createWorkspace({ id, name: 'Successor' });
  pass(60);
  return deletedAt;
}

/** For each call what comes late, and what must be so afterwards. */
const cases: Record<string, () => Promise<void>> = {
  async recordAuditEntries() {
    const deletedAt = await givenSuccessor();
    const before = timestampFromDate(new Date(deletedAt.getTime() - 1_000));
    const entryOf = (action: string, createdAt = before) => ({
      workspaceId: id,
      entry: { id: crypto.randomUUID(), createdAt, action },
    });
    const own = entryOf('own', timestampFromDate(given.clock.now));
    await given.auditService.recordAuditEntries({ entries: [own, entryOf('late')] });
    const actions = await rowsOf(
      `select action from audit_entries where workspace_id = $1 and action in ('own', 'late')`,
    );
    expect(actions).toEqual([{ action: 'own' }]);
  },
  async reportQuotaUse() {
    await given.usage(root).setQuotas({ workspaceId: id, quotas: { contacts: 20n } });
    const report = { workspaceId: id, resource: 'contacts', used: 10n };
    await given.directory.reportQuotaUse({ ...report, quota: 10n });
    const notices = () => rowsOf('select resource from quota_notices where workspace_id = $1');
    expect(await notices()).toEqual([]);
    await given.directory.reportQuotaUse({ ...report, quota: 20n });
    expect(await notices()).toEqual([{ resource: 'contacts' }]);
  },
  async reportUsage() {
    const key = createHash('sha256').update(id).digest('hex');
    const report = async (count: number) =>
      (await given.directory.reportUsage({ usage: [{ key, count }] })).totals.map(Number);
    await report(3);
    await rowsOf(
      `update request_usage set reported_at = now() - interval '1 hour' where key = encode(sha256(convert_to($1, 'utf8')), 'hex')`,
    );
    // The sweep of the next report forgets what is old; a late report begins anew, and never
    // blocks.
    await given.directory.reportUsage({ usage: [{ key: 'b'.repeat(64), count: 1 }] });
    expect(await report(2)).toEqual([2]);
  },
  async verifyDomainByPage() {
    const name = `${id}.example.com`;
    const domains = given.domains(root);
    const { setupUrl = '' } = await domains.createDomain({ workspaceId: id, name });
    await givenSuccessor();
    const token = setupUrl.split('/').at(-1) ?? '';
    const verify = () => given.domainPages.verifyDomainByPage({ token });
    await expect(verify()).rejects.toThrow('not_found');
    await domains.createDomain({ workspaceId: id, name });
    await expect(verify()).rejects.toThrow('not_found');
    const { domain } = await domains.getDomain({ workspaceId: id, name });
    expect(domain?.checkedAt).toBeUndefined();
  },
};

test('every call by which other services change something has a case', () => {
  expect(Object.keys(cases).toSorted()).toEqual(changingCalls(services));
});

test.each(Object.keys(cases))('newer state stands when %s comes an hour late', (call) =>
  cases[call]?.(),
);

test('entries of one workspace that come out of order are in the order of their times', async () => {
  const at = (minutes: number) =>
    timestampFromDate(new Date(given.clock.now.getTime() + minutes * 60_000));
  for (const minutes of [2, 1, 3]) {
    const entry = { id: crypto.randomUUID(), createdAt: at(minutes), action: `after ${minutes}` };
    await given.auditService.recordAuditEntries({ entries: [{ workspaceId: id, entry }] });
  }
  const { entries } = await given.audit(root).listAuditLog({ workspaceId: id, limit: 3 });
  expect(entries.map(({ action }) => action)).toEqual(['after 3', 'after 2', 'after 1']);
});

test('a round of erasing that comes late leaves the workspace that has the id by then', async () => {
  await givenSuccessor();
  const before = await workspace();
  const asked: string[] = [];
  const dataServices = {
    contacts: { eraseWorkspace: async () => asked.push('contacts') as never },
  };
  await eraseWorkspace({ ...given.context, dataServices }, { log })({ id });
  expect(asked).toEqual([]);
  expect(await workspace()).toEqual(before);
});

test('a round that stood still since it read the deletion asks no service any more', async () => {
  const asked: string[] = [];
  const dataServices = {
    contacts: { eraseWorkspace: async () => asked.push('contacts') as never },
  };
  const { store } = given.context;
  const members = () => rowsOf('select user_id from members where workspace_id = $1');
  const before = await members();
  const readAtMs = Date.now() - 21_000;
  const left = await eraseEverywhere({ store, dataServices, log }, { workspaceId: id, readAtMs });
  expect(left).toEqual(['contacts', 'workspaces']);
  expect([asked, await members()]).toEqual([[], before]);
});

test('a round that ends after the id was deleted again does not end that deletion', async () => {
  await given.deletions(root).deleteWorkspace({ id });
  pass(12);
  const eraseLate = async () => {
    await round();
    await given.workspaces(root).createWorkspace({ id, name: 'Successor' });
    await given.deletions(root).deleteWorkspace({ id });
    return create(EraseWorkspaceResponseSchema);
  };
  const dataServices = { contacts: { eraseWorkspace: eraseLate } };
  await eraseWorkspace({ ...given.context, dataServices }, { log })({ id });
  expect(await given.deletions(root).getDeletion({ id })).toMatchObject({ status: 'erasing' });
  expect(await workspace()).toHaveLength(1);
});
