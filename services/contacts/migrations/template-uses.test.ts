import { expect, test } from '@jest/globals';
import { pushAllOnce } from '#lib/jobs/template-uses.ts';
import { query } from '#lib/postgres/query.ts';
import { useService } from '../test/given.ts';

const given = useService();

test('an upgrade queues the push of all lists, now and an hour later', async () => {
  const em = given.context.store.fork();
  const jobs = () =>
    query<{ hours: number }>(
      em,
      `select round(extract(epoch from run_at - now()) / 3600)::int as hours from contacts_jobs.jobs
       where task_identifier = 'pushAllTemplateUses' order by run_at`,
      [],
    );
  // The database is new, so its own migration had nothing to push.
  expect(await jobs()).toEqual([]);
  await query(em, pushAllOnce('contacts'), []);
  expect(await jobs()).toEqual([{ hours: 0 }, { hours: 1 }]);
});

test('a service without jobs has nothing to push', async () => {
  await query(given.context.store.fork(), pushAllOnce('nobody'), []);
});
