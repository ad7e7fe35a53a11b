import { beforeEach, expect, test } from '@jest/globals';
import { WorkflowNotFoundError } from '@temporalio/common';
import { query } from '#lib/postgres/query.ts';
import { workflowIdOf } from '../lifecycle/run.ts';
import { givenBroadcast, useService, wakes } from '../test/given.ts';
import { checkRuns } from './check-runs.ts';

const given = useService();
let asked: string[];
beforeEach(async () => {
  asked = [];
  const em = given.context.store.fork();
  for (const table of ['broadcasts', 'slices', 'watch_cursor'])
    await query(em, `delete from ${table}`, []);
});

type Key = { workspaceId: string; id: string };

/** Checks a minute after every change; `describe` answers the state of each run. */
function look(describe: (workflowId: string) => Promise<string>): Promise<void> {
  const getHandle = (workflowId: string) => ({
    describe: async () => {
      asked.push(workflowId);
      return { status: { name: await describe(workflowId) } };
    },
  });
  const now = () => new Date(given.clock.now.getTime() + 60_000);
  const withDeadline = (_: number, work: () => unknown) => work();
  const temporal = { workflow: { getHandle }, connection: { withDeadline } } as never;
  const log = { warn: () => {} } as never;
  return checkRuns({ ...given.context, now }, { temporal, log })();
}
const running = async () => 'RUNNING';

/** Copies of a broadcast. */
function copy({ id }: Key, count: number): Promise<unknown> {
  return query(
    given.context.store.fork(),
    `insert into broadcasts select (json_populate_record(b, json_build_object('id', b.id || n))).*
     from broadcasts b, generate_series(1, $2) n where id = $1`,
    [id, count],
  );
}

test('every live row is checked, however many there are', async () => {
  const key = await givenBroadcast(given, { status: 'scheduled' });
  await copy(key, 1_500);
  await look(running);
  expect(asked).toHaveLength(1_000);
  await look(running);
  expect(new Set(asked).size).toBe(1_501);
  asked = [];
  await look(running);
  expect(asked).toHaveLength(1_000);
});

test('a run that cannot be described delays no other row', async () => {
  await copy(await givenBroadcast(given, { status: 'scheduled' }), 2);
  const broken = async () => {
    throw new Error('unexpected');
  };
  for (let round = 0; round < 3; round += 1) await look(broken);
  expect(new Set(asked).size).toBe(3);
});

test('a row that is deleted while its run is described is left alone', async () => {
  const key = await givenBroadcast(given, { status: 'sending' });
  const other = await givenBroadcast(given, { status: 'sending' });
  await look(async (workflowId) => {
    if (workflowId === workflowIdOf(key))
      await query(given.context.store.fork(), 'delete from broadcasts where id = $1', [key.id]);
    throw new WorkflowNotFoundError('no such run', workflowId, undefined);
  });
  expect(asked).toHaveLength(2);
  expect(await wakes(given)).toContain(workflowIdOf(other));
});

test('a broadcast that was not counted in time is woken, whatever the state of its run', async () => {
  const key = await givenBroadcast(given, { status: 'cancelled' });
  await query(
    given.context.store.fork(),
    `insert into slices (workspace_id, broadcast_id, number, size, settle_at)
     values ($1, $2, 0, 10, $3)`,
    [key.workspaceId, key.id, new Date(given.clock.now.getTime() - 60_000)],
  );
  await look(running);
  expect(await wakes(given)).toContain(workflowIdOf(key));
});

test('a broadcast that cannot be woken keeps no other from being woken or checked', async () => {
  const em = given.context.store.fork();
  const uncounted = [
    await givenBroadcast(given, { id: 'a-poisoned', status: 'cancelled' }),
    await givenBroadcast(given, { status: 'cancelled' }),
  ];
  await givenBroadcast(given, { status: 'sending' });
  for (const [number, { workspaceId, id }] of uncounted.entries()) {
    const lateAt = new Date(given.clock.now.getTime() - 60_000 + number);
    await query(
      em,
      `insert into slices (workspace_id, broadcast_id, number, size, settle_at) values ($1, $2, 0, 10, $3)`,
      [workspaceId, id, lateAt],
    );
  }
  await query(
    em,
    `alter table broadcasts_jobs._private_jobs add constraint poisoned check (key not like '%a-poisoned') not valid`,
    [],
  );
  await look(running);
  await query(em, 'alter table broadcasts_jobs._private_jobs drop constraint poisoned', []);
  expect(await wakes(given)).toContain(workflowIdOf(uncounted[1]!));
  expect(asked).toHaveLength(1);
});

test('each check schedules the next one, sooner after a failure', async () => {
  const dueInMs = async () => {
    const [job] = await query<{ ms: string }>(
      given.context.store.fork(),
      `select extract(epoch from run_at - now()) * 1000 as ms from broadcasts_jobs.jobs
       where key = 'checkRuns'`,
      [],
    );
    return Number(job?.ms);
  };
  await givenBroadcast(given, { status: 'sending' });
  await look(running);
  expect(await dueInMs()).toBeGreaterThan(5_000);
  expect(await dueInMs()).toBeLessThanOrEqual(15_000);
  await look(async () => {
    throw new Error('unexpected');
  });
  expect(await dueInMs()).toBeLessThanOrEqual(2_000);
});
