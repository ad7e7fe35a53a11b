import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '../../test/stack/until.ts';
import { addJob } from '../jobs/jobs.ts';
import { givenStore, service } from '../test/given.ts';
import { erase } from './erase.ts';
import { insertQuietJobs, quietJob } from './job-schema.ts';
import { query } from './query.ts';
import type { Store } from './store.ts';

let store: Store;
beforeAll(async () => {
  store = await givenStore();
});
afterAll(() => store.close());

const jobs = `${service}_jobs._private_jobs`;
const eraseJobsOf = (workspaceId: string) => erase(store, workspaceId, []);

/** Events that PostgreSQL keeps outside of the row: texts that it can't make smaller. */
const givenEvents = (workspace: string) =>
  query(
    store.fork(),
    `${insertQuietJobs(service)}
     select ${quietJob(service, { attemptsMax: 100, workspace: '$1', isSmall: 'false', workerId: 'null' })},
       json_build_object('workspaceId', $1::text, 'data', (select string_agg(gen_random_uuid()::text, '') from generate_series(1, 3_000)))`,
    [workspace],
  );

const workspacesLeft = async () => {
  const rows = await query<{ workspace: string }>(
    store.fork(),
    `select payload->>'workspaceId' as workspace from ${jobs} order by 1`,
    [],
  );
  return rows.map(({ workspace }) => workspace);
};

test('jobs of a workspace go with it, and one that runs is left', async () => {
  for (const workspaceId of ['gone', 'kept']) {
    await addJob(store.fork(), service, { task: 'any', payload: { workspaceId } });
    await givenEvents(workspaceId);
  }
  await query(
    store.fork(),
    `update ${jobs} set locked_at = now() where payload->>'workspaceId' = 'gone' and flags is null`,
    [],
  );
  expect(await eraseJobsOf('gone')).toEqual({ erased: 1, left: ['jobs'] });
  await query(store.fork(), `update ${jobs} set locked_at = null`, []);
  expect(await eraseJobsOf('gone')).toEqual({ erased: 1, left: [] });
  expect(await workspacesLeft()).toEqual(['kept', 'kept']);
});

test('more jobs than one statement may delete go one part after the other', async () => {
  await query(
    store.fork(),
    `insert into ${jobs} (task_id, payload)
     select id, '{"workspaceId": "busy"}' from ${service}_jobs._private_tasks, generate_series(1, 10_001)
     where identifier = 'any'`,
    [],
  );
  expect(await eraseJobsOf('busy')).toEqual({ erased: 10_000, left: ['jobs'] });
  expect(await eraseJobsOf('busy')).toEqual({ erased: 1, left: [] });
});

test('a round of erasing reads no events of other workspaces', async () => {
  for (let each = 0; each < 20; each += 1) await givenEvents('other');
  const stats = async () => {
    const [row] = await query<{ scans: number; blocks: number }>(
      store.fork(),
      `select seq_scan::int as scans, (toast_blks_read + toast_blks_hit)::int as blocks
       from pg_stat_user_tables join pg_statio_user_tables using (relid) where relid = $1::regclass`,
      [jobs],
    );
    return row ?? { scans: 0, blocks: 0 };
  };
  const afterErasing = async () => {
    const { scans } = await stats();
    await eraseJobsOf('nobody');
    let seen = await stats();
    await until('the scan is counted', async () => {
      seen = await stats();
      return seen.scans > scans;
    });
    return seen.blocks;
  };
  // With what the insertion has read.
  const before = await afterErasing();
  expect(await afterErasing()).toBe(before);
});
