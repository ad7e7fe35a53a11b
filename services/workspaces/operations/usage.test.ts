import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { CountUsageResponseSchema } from '#gen/postrider/events/v1/events_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { createLog } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import { quotaDefault, resourceNames } from '#lib/quotas/resources.ts';
import { userClaims } from '../../../test/setup/service.ts';
import { sendQuotaNotice } from '../tasks/send-quota-notice.ts';
import { givenRoot, rootEmail, useService } from '../test/given.ts';

const given = useService();
let root: Claims;
beforeAll(async () => {
  root = await givenRoot(given);
});
afterEach(() => {
  for (const name of Object.keys(given.context.usageCounters)) {
    delete given.context.usageCounters[name];
  }
});

let count = 0;
async function givenWorkspace(): Promise<string> {
  count += 1;
  const id = `u${count}`;
  await given.workspaces(root).createWorkspace({ id, name: 'Acme' });
  return id;
}

const countedAt = timestampFromDate(new Date('2030-01-01T11:59:00Z'));
const counting = (counted: Record<string, bigint>) => ({
  countUsage: async () =>
    create(CountUsageResponseSchema, {
      counted: Object.entries(counted).map(([resource, used]) => ({ resource, used, countedAt })),
    }),
});

test('usage has what each service counts with the quota, what happens beyond it and how to free some', async () => {
  const workspaceId = await givenWorkspace();
  const { usageCounters } = given.context;
  usageCounters.messages = counting({ queued_bytes: 5n });
  usageCounters.contacts = counting({ lists: 3n, contacts: 7n });
  const { usage, unavailable } = await given.usage(root).getUsage({ workspaceId });
  expect(usage.map(({ resource, unit, used, quota }) => [resource, unit, used, quota])).toEqual([
    ['contacts', 'rows', 7n, 10_000_000n],
    ['lists', 'rows', 3n, 1_000n],
    ['queued_bytes', 'bytes', 5n, 5_368_709_120n],
  ]);
  expect(usage[1]).toMatchObject({
    beyond: 'A call that would add one is refused.',
    freeBy: 'delete lists by lists.delete',
    countedAt,
  });
  expect(unavailable).toEqual([]);
});

test('usage names a service that does not answer and gives the rest', async () => {
  const workspaceId = await givenWorkspace();
  const { usageCounters } = given.context;
  usageCounters.contacts = counting({ contacts: 7n });
  usageCounters.messages = {
    countUsage: () => Promise.reject(new ConnectError('away', Code.Unavailable)),
  };
  const { usage, unavailable } = await given.usage(root).getUsage({ workspaceId });
  expect(usage.map(({ resource }) => resource)).toEqual(['contacts']);
  expect(unavailable).toEqual(['messages']);
});

test('setQuotas replaces the quotas of one workspace, and other services read them', async () => {
  const [workspaceId, other] = [await givenWorkspace(), await givenWorkspace()];
  const quotasOf = async (id: string) =>
    (await given.directory.getQuotas({ workspaceId: id })).quotas;
  const { quotas } = await given.usage(root).setQuotas({ workspaceId, quotas: { contacts: 5n } });
  expect(Object.keys(quotas).sort()).toEqual([...resourceNames].sort());
  expect(await quotasOf(workspaceId)).toMatchObject({ contacts: 5n, lists: 1_000n });
  expect(await quotasOf(other)).toMatchObject({ contacts: BigInt(quotaDefault('contacts')) });
  await given.usage(root).setQuotas({ workspaceId, quotas: { lists: 10n } });
  expect(await quotasOf(workspaceId)).toMatchObject({ contacts: 10_000_000n, lists: 10n });
});

test.each([
  [{ contracts: 1n }, 'a resource is one of contacts, lists, segments'],
  [{ contacts: -1n }, 'the quota of contacts is an integer from 0'],
  [{ segments: 501n }, 'the quota of segments is an integer from 0 to 500'],
])('setQuotas refuses %p', async (quotas, text) => {
  const workspaceId = await givenWorkspace();
  await expect(given.usage(root).setQuotas({ workspaceId, quotas })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringContaining(text),
  });
});

test('only root sets quotas, so no owner can raise their own', async () => {
  const workspaceId = await givenWorkspace();
  const request = { workspaceId, quotas: { contacts: 5n } };
  await expect(given.usage(userClaims()).setQuotas(request)).rejects.toThrow();
});

test('the owners get one mail a week for each resource that is nearly used', async () => {
  const workspaceId = await givenWorkspace();
  const report = (resource: string) =>
    given.directory.reportQuotaUse({ workspaceId, resource, used: 9n, quota: 10n });
  await given.usage(root).setQuotas({ workspaceId, quotas: { contacts: 10n, lists: 10n } });
  const jobs = async () => {
    const rows = await query<{ payload: { workspaceId: string; resource: string } }>(
      given.context.store.fork(),
      `select payload from workspaces_jobs._private_jobs jobs
       join workspaces_jobs._private_tasks tasks on tasks.id = jobs.task_id
       where tasks.identifier = 'sendQuotaNotice' and payload ->> 'workspaceId' = $1`,
      [workspaceId],
    );
    return rows.map(({ payload }) => payload);
  };
  await report('contacts');
  await report('contacts');
  await report('lists');
  const payloads = await jobs();
  expect(payloads.map(({ resource }) => resource).sort()).toEqual(['contacts', 'lists']);
  const notice = payloads.find(({ resource }) => resource === 'contacts');
  await sendQuotaNotice(given.context, { log: createLog('test', 'silent') })(notice);
  expect(given.postbox.mails.at(-1)).toMatchObject({
    to: rootEmail,
    subject: 'Acme has nearly used a quota',
    text: expect.stringContaining('The workspace “Acme” has 9 of at most 10 rows of contacts.'),
  });
  const weekMs = 7 * 24 * 60 * 60 * 1_000;
  const before = given.clock.now;
  given.clock.now = new Date(before.getTime() + weekMs);
  await report('contacts');
  given.clock.now = before;
  expect(await jobs()).toHaveLength(3);
});

test('a report about a workspace that is gone is dropped', async () => {
  await given.directory.reportQuotaUse({
    workspaceId: 'gone',
    resource: 'lists',
    used: 9n,
    quota: 10n,
  });
  const rows = await query(
    given.context.store.fork(),
    `select from quota_notices where workspace_id = 'gone'`,
    [],
  );
  expect(rows).toEqual([]);
});

test('the name of a workspace is no link in the mail about a quota', async () => {
  const workspaceId = 'linked';
  const name = 'Win https://evil.example';
  await given.workspaces(root).createWorkspace({ id: workspaceId, name });
  const notice = { workspaceId, resource: 'lists', used: 9, quota: 10, noticedAt: '2030-01-01' };
  await sendQuotaNotice(given.context, { log: createLog('test', 'silent') })(notice);
  const { subject, text } = given.postbox.mails.at(-1) ?? {};
  expect(subject).toContain('Win https evil example');
  expect(text).not.toContain('evil.example');
});
