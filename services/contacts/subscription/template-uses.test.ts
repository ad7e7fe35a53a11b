import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { pushAllTemplateUses, pushTemplateUses } from '#lib/jobs/template-uses.ts';
import { query } from '#lib/postgres/query.ts';
import { givenLists, useService } from '../test/given.ts';
import { listsWithTemplate, listUses } from './template-uses.ts';

const given = useService();

const doubleOptin = (id: string) => ({ isDoubleOptin: true, doubleOptinTemplate: { id } });
const used = (workspaceId: string, id: string) => given.uses.get(`list ${workspaceId} ${id}`);

type Job = { payload: { workspaceId: string; id: string }; waits: boolean };

/** The queued pushes of a workspace; `waits` if it is not due yet. */
async function jobsOf(workspaceId: string): Promise<Job[]> {
  return query<Job>(
    given.context.store.fork(),
    `select job.payload, job.run_at > now() + interval '10 seconds' as waits
     from contacts_jobs._private_jobs job join contacts_jobs._private_tasks task on task.id = job.task_id
     where task.identifier = 'pushTemplateUses' and job.payload ->> 'workspaceId' = $1`,
    [workspaceId],
  );
}

/** Runs the queued pushes of a workspace, as a worker does in time. */
async function runJobs(workspaceId: string): Promise<void> {
  const push = pushTemplateUses({ ...given.context, usesOf: listUses });
  for (const { payload } of await jobsOf(workspaceId)) await push(payload);
}

test('a list uses its template from the moment it is created', async () => {
  const workspaceId = await givenLists(given);
  await given.lists.createList({ workspaceId, id: 'a', name: 'News', ...doubleOptin('confirm') });
  expect(used(workspaceId, 'a')).toEqual({ name: 'News', templateIds: ['confirm'] });
  expect(await jobsOf(workspaceId)).toMatchObject([{ waits: true }]);
  await runJobs(workspaceId);
  expect(used(workspaceId, 'a')).toEqual({ name: 'News', templateIds: ['confirm'] });
});

test('a list without double opt-in pushes no uses to templates', async () => {
  const workspaceId = await givenLists(given, 'a');
  await given.lists.updateList({ workspaceId, id: 'a', name: 'B' });
  await given.lists.deleteList({ workspaceId, id: 'a' });
  expect([used(workspaceId, 'a'), await jobsOf(workspaceId)]).toEqual([undefined, []]);
});

test('both templates are used while a list changes from one to the other, and the new one at the answer', async () => {
  const workspaceId = await givenLists(given);
  const { templateUses } = given.context;
  const pushes: unknown[] = [];
  const setTemplateUses: typeof templateUses.setTemplateUses = (request) => {
    pushes.push(request.templateIds);
    return templateUses.setTemplateUses(request);
  };
  await given.lists.createList({ workspaceId, id: 'a', name: 'A', ...doubleOptin('old') });
  given.context.templateUses = { setTemplateUses };
  await given.lists.updateList({ workspaceId, id: 'a', name: 'B', ...doubleOptin('new') });
  given.context.templateUses = templateUses;
  expect(pushes).toEqual([['new', 'old'], ['new']]);
  expect(used(workspaceId, 'a')).toEqual({ name: 'B', templateIds: ['new'] });
  expect(await jobsOf(workspaceId)).toMatchObject([{ waits: false }]);
  await runJobs(workspaceId);
  expect(used(workspaceId, 'a')).toEqual({ name: 'B', templateIds: ['new'] });
});

test.each([
  ['without template', (key: object) => given.lists.updateList({ ...key, name: 'B' })],
  ['that is deleted', (key: object) => given.lists.deleteList(key)],
])('a list %s uses none any more', async (_, end) => {
  const workspaceId = await givenLists(given);
  await given.lists.createList({ workspaceId, id: 'a', name: 'A', ...doubleOptin('confirm') });
  await end({ workspaceId, id: 'a' });
  expect(used(workspaceId, 'a')?.templateIds).toEqual([]);
  expect(await jobsOf(workspaceId)).toMatchObject([{ waits: false }]);
  await runJobs(workspaceId);
  expect(used(workspaceId, 'a')?.templateIds).toEqual([]);
});

test('a template that is deleted meanwhile is a 400, and there is no list', async () => {
  const workspaceId = await givenLists(given);
  const list = { workspaceId, id: 'a', name: 'A', ...doubleOptin('going') };
  await expect(given.lists.createList(list)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'double opt-in template: invalid template reference: no email template has this id',
  });
  await expect(given.lists.getList({ workspaceId, id: 'a' })).rejects.toMatchObject({
    code: Code.NotFound,
  });
});

test('a list whose template never existed gets one that does', async () => {
  const workspaceId = await givenLists(given, 'a');
  await query(
    given.context.store.fork(),
    `update lists set double_optin_template = '{"id":"going"}' where workspace_id = $1`,
    [workspaceId],
  );
  await given.lists.updateList({ workspaceId, id: 'a', name: 'A', ...doubleOptin('new') });
  expect(used(workspaceId, 'a')?.templateIds).toEqual(['new']);
});

test('a creation that fails after the push leaves no use for long', async () => {
  const workspaceId = await givenLists(given, 'taken');
  given.clock.beforeUse = async () => {
    throw new ConnectError('templates is down', Code.Unavailable);
  };
  const list = { workspaceId, id: 'a', name: 'A', ...doubleOptin('confirm') };
  await expect(given.lists.createList(list)).rejects.toMatchObject({ code: Code.Unavailable });
  delete given.clock.beforeUse;
  given.uses.set(`list ${workspaceId} a`, { name: 'A', templateIds: ['confirm'] });
  expect(await jobsOf(workspaceId)).toMatchObject([{ waits: true }]);
  await runJobs(workspaceId);
  expect(used(workspaceId, 'a')?.templateIds).toEqual([]);
});

test('a templates process of before an upgrade, which deletes none, refuses no list', async () => {
  const workspaceId = await givenLists(given);
  given.clock.beforeUse = async () => {
    throw new ConnectError('unknown service', Code.Unimplemented);
  };
  const list = { workspaceId, id: 'a', name: 'A', ...doubleOptin('confirm') };
  await given.lists.createList(list);
  await expect(runJobs(workspaceId)).rejects.toMatchObject({ code: Code.Unimplemented });
  delete given.clock.beforeUse;
  await runJobs(workspaceId);
  expect(used(workspaceId, 'a')?.templateIds).toEqual(['confirm']);
});

test('a push of a job waits for a change that is under way, and sees it', async () => {
  const workspaceId = await givenLists(given);
  await given.lists.createList({ workspaceId, id: 'a', name: 'A', ...doubleOptin('old') });
  const pushing = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  given.clock.beforeUse = async () => {
    pushing.resolve();
    await goOn.promise;
  };
  const update = { workspaceId, id: 'a', name: 'A', ...doubleOptin('new') };
  const updated = given.lists.updateList(update);
  await pushing.promise;
  delete given.clock.beforeUse;
  const job = runJobs(workspaceId);
  goOn.resolve();
  await Promise.all([updated, job]);
  expect(used(workspaceId, 'a')?.templateIds).toEqual(['new']);
});

test('lists from before are pushed once, without templates that are gone', async () => {
  const workspaceId = await givenLists(given, 'plain', 'there', 'gone', 'deleted');
  await query(
    given.context.store.fork(),
    `update lists set double_optin_template = json_build_object('id', case id when 'there' then 'confirm' else 'gone' end),
       deleted_at = case id when 'deleted' then now() end
     where workspace_id = $1 and id <> 'plain'`,
    [workspaceId],
  );
  const { store } = given.context;
  await pushAllTemplateUses(store, { kind: 'list', usersSql: listsWithTemplate })();
  const jobs = await jobsOf(workspaceId);
  expect(jobs.map(({ payload }) => payload.id).toSorted()).toEqual(['gone', 'there']);
  await runJobs(workspaceId);
  expect(used(workspaceId, 'there')?.templateIds).toEqual(['confirm']);
  expect(used(workspaceId, 'gone')?.templateIds).toEqual([]);
});
