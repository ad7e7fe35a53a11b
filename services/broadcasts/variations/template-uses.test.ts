import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { SetTemplateUsesResponseSchema } from '#gen/postrider/templates/v1/templates_pb.ts';
import { pushAllTemplateUses, pushTemplateUses } from '#lib/jobs/template-uses.ts';
import { query } from '#lib/postgres/query.ts';
import { failBroadcast } from '../activities/fail-broadcast.ts';
import { finish } from '../activities/finish.ts';
import { operate } from '../activities/operate.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import { statuses } from '../broadcast/row.ts';
import { draftContent, givenBroadcast, tested, useService } from '../test/given.ts';
import { broadcastUses, liveBroadcasts } from './template-uses.ts';

const given = useService();

const used = ({ workspaceId, id }: BroadcastKey) =>
  given.neighbours.uses.get(`${workspaceId} ${id}`);

type Job = { payload: BroadcastKey; waits: boolean };

async function jobsOf({ id }: BroadcastKey): Promise<Job[]> {
  return query<Job>(
    given.context.store.fork(),
    `select job.payload, job.run_at > now() + interval '10 seconds' as waits
     from broadcasts_jobs._private_jobs job join broadcasts_jobs._private_tasks task on task.id = job.task_id
     where task.identifier = 'pushTemplateUses' and job.payload ->> 'id' = $1`,
    [id],
  );
}

async function runJobs(key: BroadcastKey): Promise<void> {
  const push = pushTemplateUses({ ...given.context, usesOf: broadcastUses });
  for (const { payload } of await jobsOf(key)) await push(payload);
}

test('a broadcast uses the templates of its variations once it is scheduled, and no draft does', async () => {
  const key = await givenBroadcast(given, { test_settings: tested });
  await given.client.updateBroadcast({ ...draftContent, ...key });
  expect([used(key), await jobsOf(key)]).toEqual([undefined, []]);
  const draft = await givenBroadcast(given, { test_settings: tested });
  await given.client.scheduleBroadcast({ ...draft, sendNow: true });
  expect(used(draft)).toEqual({ name: 'Hello', templateIds: ['a', 'b'] });
  expect(await jobsOf(draft)).toMatchObject([{ waits: true }]);
});

test('both are used while a scheduled broadcast changes its template, and the new one at the answer', async () => {
  const starts_at = new Date(given.clock.now.getTime() + 3_600_000);
  const key = await givenBroadcast(given, { status: 'scheduled', starts_at });
  const testSettings = { variations: [{ templateId: 'other' }] };
  const { templateUses } = given.context;
  const pushes: unknown[] = [];
  const setTemplateUses: typeof templateUses.setTemplateUses = (request) => {
    pushes.push(request.templateIds);
    return templateUses.setTemplateUses(request);
  };
  given.context.templateUses = { setTemplateUses };
  await given.client.updateBroadcast({ ...draftContent, ...key, testSettings });
  given.context.templateUses = templateUses;
  expect(pushes).toEqual([['other', 'hello'], ['other']]);
  expect(used(key)?.templateIds).toEqual(['other']);
  expect(await jobsOf(key)).toMatchObject([{ waits: false }]);
  await runJobs(key);
  expect(used(key)?.templateIds).toEqual(['other']);
});

test('a template that is deleted meanwhile is a 400, and nothing is scheduled', async () => {
  const test_settings = { ...tested, variations: [{ template_id: 'going', variation_name: '' }] };
  const key = await givenBroadcast(given, { test_settings });
  await expect(given.client.scheduleBroadcast({ ...key, sendNow: true })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'template going not found',
  });
  await runJobs(key);
  expect(used(key)?.templateIds).toEqual([]);
});

test('nothing is scheduled while templates is down', async () => {
  const key = await givenBroadcast(given);
  const { setTemplateUses } = given.context.templateUses;
  given.context.templateUses.setTemplateUses = async () => {
    throw new ConnectError('templates is down', Code.Unavailable);
  };
  const scheduled = given.client.scheduleBroadcast({ ...key, sendNow: true });
  await expect(scheduled).rejects.toMatchObject({ code: Code.Unavailable });
  given.context.templateUses.setTemplateUses = setTemplateUses;
  const { broadcast } = await given.client.getBroadcast(key);
  expect(broadcast?.status).toBe(BroadcastStatus.DRAFT);
  await given.client.scheduleBroadcast({ ...key, sendNow: true });
  expect(used(key)?.templateIds).toEqual(['hello']);
});

const frozen = { status: 'sending', frozen_at: new Date() } as const;

test.each([
  ['sent', frozen, (key: BroadcastKey) => finish(given.context)(key)],
  ['cancelled', frozen, (key: BroadcastKey) => given.client.cancelBroadcast(key)],
  ['failed', frozen, (key: BroadcastKey) => failBroadcast(given.context)(key, 'gone')],
  [
    'deleted',
    { status: 'scheduled' } as const,
    (key: BroadcastKey) => given.client.deleteBroadcast(key),
  ],
])('a broadcast that is %s uses none any more', async (_, wish, end) => {
  const key = await givenBroadcast(given, wish);
  await end(key);
  expect(await jobsOf(key)).toMatchObject([{ waits: false }]);
  await runJobs(key);
  expect(used(key)?.templateIds).toEqual([]);
});

test.each([
  ['sent', frozen, (key: BroadcastKey) => finish(given.context)(key)],
  ['failed', frozen, (key: BroadcastKey) => failBroadcast(given.context)(key, 'gone')],
  ['cancelled', frozen, (key: BroadcastKey) => given.client.cancelBroadcast(key)],
  [
    'cancelled by an operator',
    frozen,
    (key: BroadcastKey) => operate(given.context)(key, 'cancel'),
  ],
  [
    'deleted',
    { status: 'scheduled' } as const,
    (key: BroadcastKey) => given.client.deleteBroadcast(key),
  ],
])('the templates of a broadcast are free when the answer says it is %s', async (_, wish, end) => {
  const key = await givenBroadcast(given, wish);
  given.neighbours.uses.set(`${key.workspaceId} ${key.id}`, { name: 'x', templateIds: ['hello'] });
  await end(key);
  expect(used(key)?.templateIds).toEqual([]);
});

test('pushes have growing versions, and one that is lower than what is known is repeated', async () => {
  const { templateUses } = given.context;
  const { setTemplateUses } = templateUses;
  const versions: bigint[] = [];
  let known = 0n;
  templateUses.setTemplateUses = async ({ version = 0n }) => {
    versions.push(version);
    known = version > known ? version : known;
    return create(SetTemplateUsesResponseSchema, { version: known });
  };
  const key = await givenBroadcast(given);
  await given.client.scheduleBroadcast({ ...key, sendNow: true });
  await runJobs(key);
  expect(versions).toHaveLength(2);
  // The database was restored, or moved to a machine with another clock.
  known += 3_600_000_000n;
  await runJobs(key);
  expect(versions).toHaveLength(4);
  expect(versions.slice(0, 3)).toEqual(versions.slice(0, 3).toSorted());
  expect(versions.at(-1)).toBe(known);
  templateUses.setTemplateUses = setTemplateUses;
});

test('a paused broadcast still uses its template', async () => {
  const key = await givenBroadcast(given, { status: 'sending' });
  await given.client.pauseBroadcast(key);
  expect(await jobsOf(key)).toEqual([]);
  const uses = await broadcastUses(given.context.store.fork(), key);
  expect(uses).toEqual({ name: 'Hello', templateIds: ['hello'] });
});

test('live broadcasts from before are pushed once', async () => {
  const keys = new Map<string, BroadcastKey>();
  for (const status of statuses) keys.set(status, await givenBroadcast(given, { status }));
  const { store } = given.context;
  await pushAllTemplateUses(store, { kind: 'broadcast', usersSql: liveBroadcasts })();
  for (const [status, key] of keys) {
    const isLive = !['draft', 'sent', 'cancelled', 'failed'].includes(status);
    expect([status, (await jobsOf(key)).length]).toEqual([status, isLive ? 1 : 0]);
    await runJobs(key);
    expect([status, used(key)?.templateIds]).toEqual([status, isLive ? ['hello'] : undefined]);
  }
});
