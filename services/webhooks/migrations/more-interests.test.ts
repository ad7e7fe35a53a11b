import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { useService } from '../test/given.ts';
import { MoreInterests } from './m0002-more-interests.ts';

const given = useService();

test('an upgrade has all interests pushed again, soon and after the last old process', async () => {
  const em = given.context.store.fork();
  const jobs = () =>
    query<{ minutes: number; payload: object }>(
      em,
      `select round(extract(epoch from run_at - now()) / 60)::int as minutes, payload
       from webhooks_jobs._private_jobs job join webhooks_jobs._private_tasks task on task.id = job.task_id
       where task.identifier = 'pushInterests' and job.key like 'interests of more types%' order by run_at`,
      [],
    );
  // The database is new, so its own migration had nothing to push.
  expect(await jobs()).toEqual([]);
  const sql: string[] = [];
  MoreInterests.prototype.up.call({ addSql: (each: string) => sql.push(each) });
  for (const each of sql) await query(em, each, []);
  expect(await jobs()).toEqual([
    { minutes: 1, payload: {} },
    { minutes: 60, payload: {} },
  ]);
});
