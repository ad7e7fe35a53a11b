import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { givenLists, useService } from '../test/given.ts';
import { emptySegment } from './empty-segment.ts';
import { endMemberships } from './end-memberships.ts';

const given = useService();

const countOf = async (sql: string, workspaceId: string) => {
  const em = given.context.store.fork();
  const [row] = await query<{ count: number }>(em, `select count(*)::int ${sql}`, [workspaceId]);
  return row?.count;
};

/** The priorities of the waiting jobs of a task. */
const jobsOf = async (task: string, workspaceId: string) => {
  const rows = await query<{ priority: number }>(
    given.context.store.fork(),
    `select priority from contacts_jobs._private_jobs job
     join contacts_jobs._private_tasks task on task.id = job.task_id
     where task.identifier = $1 and payload->>'workspaceId' = $2`,
    [task, workspaceId],
  );
  return rows.map(({ priority }) => priority);
};

test('ending the memberships of a large list gives way, and the rest comes behind other jobs', async () => {
  const workspaceId = await givenLists(given, 'news');
  const contacts = Array.from({ length: 1_200 }, (_, number) => ({
    email: `${number}@example.com`,
  }));
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['news'] });
  await given.lists.deleteList({ workspaceId, id: 'news' });
  expect(await jobsOf('endMemberships', workspaceId)).toEqual([1]);
  const left = () =>
    countOf('from memberships where workspace_id = $1 and deleted_at is null', workspaceId);
  const run = endMemberships(given.context, 0);
  await run({ workspaceId, listId: 'news' });
  expect(await left()).toBe(200);
  expect(await jobsOf('endMemberships', workspaceId)).toEqual([1, 1]);
  await run({ workspaceId, listId: 'news' });
  expect(await left()).toBe(0);
});

test('emptying a large segment gives way, and the rest comes behind other jobs', async () => {
  const workspaceId = await givenLists(given);
  const key = { workspaceId, id: 'people' };
  await query(
    given.context.store.fork(),
    `insert into segment_members (workspace_id, segment_id, email, version, matched_at)
     select $1, 'people', number || '@example.com', 1, now() from generate_series(1, 1200) number`,
    [workspaceId],
  );
  const left = () => countOf('from segment_members where workspace_id = $1', workspaceId);
  const run = emptySegment(given.context, 0);
  await run(key);
  expect(await left()).toBe(200);
  expect(await jobsOf('emptySegment', workspaceId)).toEqual([1]);
  await run(key);
  expect(await left()).toBe(0);
});
