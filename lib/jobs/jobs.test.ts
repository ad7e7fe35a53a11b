import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { TaskList } from 'graphile-worker';
import { Client } from 'pg';
import { openMessagesStore } from '../../services/messages/store.ts';
import { testStore } from '../../test/setup/database.ts';
import { until } from '../../test/stack/until.ts';
import { runEventJobs } from '../events/event-runner.ts';
import { createLog } from '../log.ts';
import { migrateJobs } from '../postgres/job-schema.ts';
import { query } from '../postgres/query.ts';
import type { Store } from '../postgres/store.ts';
import { givenStore, service, things } from '../test/given.ts';
import { givenSilentServer } from '../test/silent-server.ts';
import { addJob, type JobRunner, runJobs, sendNotice } from './jobs.ts';

let store: Store;
let messages: Store;
let runner: JobRunner | undefined;
const done: unknown[] = [];

beforeAll(async () => {
  [store, messages] = await Promise.all([givenStore(), testStore(openMessagesStore)]);
});
afterEach(async () => {
  await runner?.stop();
  runner = undefined;
  done.length = 0;
  // The end of a job may not be stored: a server fell silent.
  await query(store.fork(), `delete from ${service}_jobs._private_jobs`, []);
});
afterAll(() => Promise.all([store.close(), messages.close()]));

const note = async (payload: unknown): Promise<void> => void done.push(payload);

function start(tasks: TaskList = { note }, minutely: string[] = []): void {
  runner = runJobs({ url: store.url, service, tasks, minutely, log: createLog('test', 'silent') });
}

async function add(number: number, more: { key?: string; runAt?: Date } = {}): Promise<void> {
  const job = { task: 'note', payload: { number }, ...more };
  await store.fork().transactional((em) => addJob(em, service, job));
}

/** The runner's own scheduled jobs appear and disappear at any time. */
const waiting = () =>
  query(store.fork(), `select 1 from ${service}_jobs.jobs where task_identifier = 'note'`, []);

const jobsTable = `${service}_jobs._private_jobs`;

const storedJobs = async (): Promise<number> =>
  (await query(store.fork(), `select 1 from ${jobsTable}`, [])).length;

const forgetJobs = () => query(store.fork(), `delete from ${jobsTable}`, []);

/** Has the end of no job stored until the function it answers is called. */
async function refuseEnds(change: string): Promise<() => Promise<unknown>> {
  await query(
    store.fork(),
    `create function refuse_end() returns trigger language plpgsql as $$ begin
       if old.locked_at is null or (tg_op = 'UPDATE' and new.last_error is null) then
         return case tg_op when 'DELETE' then old else new end;
       end if;
       raise exception using errcode = '57P01';
     end $$;
     create trigger refuse_end before ${change} on ${jobsTable}
       for each row execute function refuse_end()`,
    [],
  );
  return () => query(store.fork(), 'drop function refuse_end cascade', []);
}

const connectionsOfRunners = async (): Promise<number> => {
  const name = new URL(store.url).pathname.slice(1);
  const open = `select 1 from pg_stat_activity where datname = $1 and application_name = 'postrider-${service}-jobs'`;
  return (await query(store.fork(), open, [name])).length;
};

const untilDone = (count: number): Promise<void> =>
  until(`${count} jobs are done`, async () => done.length >= count, { withinMs: 15_000 });

test('a job runs once its change is committed, and not before', async () => {
  start();
  await add(1);
  await untilDone(1);
  await store.fork().transactional(async (em) => {
    await query(em, 'insert into things (name) values ($1)', ['with a job']);
    await addJob(em, service, { task: 'note', payload: { number: 2 } });
    // A job that another transaction adds later runs while this one is not committed yet.
    await add(3);
    await untilDone(2);
  });
  await untilDone(3);
  expect(done).toEqual([{ number: 1 }, { number: 3 }, { number: 2 }]);
  expect(await things(store)).toContain('with a job');
});

test('a job whose change is rolled back never runs', async () => {
  start();
  const failing = store.fork().transactional(async (em) => {
    await addJob(em, service, { task: 'note', payload: { number: 1 } });
    throw new Error('changed my mind');
  });
  await expect(failing).rejects.toThrow('changed my mind');
  await add(2);
  await untilDone(1);
  expect(done).toEqual([{ number: 2 }]);
  // The row of a job goes after its task has ended.
  await until('no job waits', async () => (await waiting()).length === 0);
});

test('only the last of the waiting jobs with a key runs', async () => {
  await add(1, { key: 'same' });
  await add(2, { key: 'other' });
  await add(3, { key: 'same' });
  start();
  await untilDone(2);
  expect(done).toHaveLength(2);
  expect(done).toEqual(expect.arrayContaining([{ number: 2 }, { number: 3 }]));
});

test('the statements that add a job are planned once', async () => {
  const added = query<{ proconfig: string[] }>(
    store.fork(),
    `select proconfig from pg_proc
     where pronamespace = $1::regnamespace and proname = 'add_jobs'`,
    [`${service}_jobs`],
  );
  expect(await added).toEqual([{ proconfig: ['plan_cache_mode=force_generic_plan'] }]);
});

test('the jobs of a service notify its own runner only, however many there are in a transaction', async () => {
  const client = new Client({ connectionString: store.url });
  await client.connect();
  const notices: string[] = [];
  client.on('notification', ({ channel, payload = '' }) => {
    notices.push(`${channel} ${payload.split(' ')[0]}`);
  });
  await client.query(`listen ${service}_jobs`);
  await client.query('listen messages_jobs');
  await migrateJobs(store.fork(), store.url, 'messages');
  await store.fork().transactional(async (em) => {
    await addJob(em, service, { task: 'nobodyRuns', payload: {} });
    await addJob(em, service, { task: 'nobodyRuns', payload: {} });
  });
  await until('both notices came', async () => notices.length >= 2);
  await client.end();
  expect(notices).toEqual([`${service}_jobs 1`, `${service}_jobs 1`]);
});

test('the workers of all lanes together look for jobs about once a second each lane', async () => {
  const url = store.url;
  const commits = async (): Promise<number> => {
    const [row] = await query<{ count: string }>(
      store.fork(),
      'select xact_commit as count from pg_stat_database where datname = current_database()',
      [],
    );
    return Number(row?.count);
  };
  const tasks = { note };
  const log = createLog('test', 'silent');
  runner = runJobs({ url, service, tasks, slowTasks: { slowly: note }, log });
  const events = runEventJobs({ url, service, task: async () => [], log });
  await add(1);
  await untilDone(1);
  const [before, startedAtMs] = [await commits(), performance.now()];
  await sleep(5_000);
  const made = (await commits()) - before;
  // A busy machine wakes late, and the database counts late.
  const seconds = (performance.now() - startedAtMs) / 1_000;
  await events.stop();
  // Sixty workers by themselves would look sixty times a second.
  expect(made / seconds).toBeLessThan(12);
});

test('a job waits for its time', async () => {
  start();
  const inAnHour = new Date(Date.now() + 60 * 60_000);
  await add(1, { runAt: inAnHour });
  await add(2);
  await untilDone(1);
  const runAt = new Date(Date.now() + 700);
  await add(3, { runAt });
  await untilDone(2);
  expect(done).toEqual([{ number: 2 }, { number: 3 }]);
  expect(Date.now()).toBeGreaterThanOrEqual(runAt.getTime());
});

test('a task of every minute runs at the start as well', async () => {
  start({ note }, ['note']);
  await untilDone(1);
  expect(done).toEqual([{}]);
});

test('a task that fails is repeated until it succeeds', async () => {
  let tries = 0;
  start({
    note: async (payload) => {
      tries += 1;
      if (tries === 1) throw new Error('not yet');
      await note(payload);
    },
  });
  await add(1);
  await untilDone(1);
  expect(done).toEqual([{ number: 1 }]);
  expect(tries).toBe(2);
});

test.each(['tasks', 'slowTasks'])(
  'jobs of %s that always fail hold up none behind them',
  async (lane) => {
    for (let count = 0; count < 60; count += 1) {
      const job = { task: 'fail', payload: {} };
      await store.fork().transactional((em) => addJob(em, service, job));
    }
    await add(1);
    const fail = async () => {
      throw new Error('never');
    };
    const options = { url: store.url, service, log: createLog('test', 'silent') };
    runner = runJobs({ tasks: {}, ...options, [lane]: { note, fail } });
    await untilDone(1);
    await query(
      store.fork(),
      `delete from ${service}_jobs._private_jobs where locked_at is null`,
      [],
    );
  },
);

test('the runner restarts when another service migrates its job schema in the same database', async () => {
  start();
  await add(1);
  await untilDone(1);
  await migrateJobs(store.fork(), store.url, 'other');
  // Each is added after the runner has received the notice of the previous migration.
  await add(2);
  await untilDone(2);
  await migrateJobs(store.fork(), store.url, 'another');
  await add(3);
  await untilDone(3);
  expect(done).toEqual([{ number: 1 }, { number: 2 }, { number: 3 }]);
});

test('the runner restarts when its connections are cut', async () => {
  start();
  await add(1);
  await untilDone(1);
  await query(
    messages.fork(),
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
    [new URL(store.url).pathname.slice(1)],
  );
  await until('the store is back', () =>
    add(2).then(
      () => true,
      () => false,
    ),
  );
  await untilDone(2);
  expect(done).toEqual([{ number: 1 }, { number: 2 }]);
});

test('a runner whose certificate cannot be read begins when it can', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-jobs-'));
  const file = join(folder, 'ca.pem');
  const warned = Promise.withResolvers<void>();
  const log = createLog('test', 'silent');
  log.warn = () => warned.resolve();
  const url = new URL(store.url);
  url.searchParams.set('sslmode', 'disable');
  url.searchParams.set('sslrootcert', file);
  runner = runJobs({ url: url.href, service, tasks: { note }, log });
  await add(1);
  await warned.promise;
  writeFileSync(file, '');
  await untilDone(1);
});

test('connections that are cut while the runner stops end no process', async () => {
  const cut = `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1
    and application_name = 'postrider-${service}-jobs'`;
  for (let number = 0; number < 10; number += 1) {
    start();
    await add(number);
    await untilDone(number + 1);
    const name = new URL(store.url).pathname.slice(1);
    await Promise.all([query(messages.fork(), cut, [name]), runner?.stop()]);
  }
  expect(done).toHaveLength(10);
});

test.each([
  ['done', 'delete'],
  ['failed', 'update'],
])(
  'a job of which it cannot be stored that it is %s ends no process, and the runner goes on',
  async (_, change) => {
    const acceptEnds = await refuseEnds(change);
    const ran: unknown[] = [];
    start({
      note: async (payload) => {
        ran.push(payload);
        if (change === 'update' && ran.length === 1) throw new Error('no');
      },
    });
    await add(1);
    await until('it has run', async () => ran.length === 1);
    // Its end is refused after that.
    await sleep(300);
    await acceptEnds();
    await add(2);
    await until('the next one has run', async () => ran.length === 2);
    expect(ran).toEqual([{ number: 1 }, { number: 2 }]);
    await forgetJobs();
  },
);

test('a runner that cannot store the ends of several jobs, one after the other, goes on', async () => {
  const ran: unknown[] = [];
  const ends = [1, 2, 3, 4].map(() => Promise.withResolvers<void>());
  start({
    note: async (payload) => {
      await ends[ran.push(payload) - 2]?.promise;
    },
  });
  await add(0);
  await until('the runner has begun', async () => ran.length === 1 && (await storedJobs()) === 0);
  const acceptEnds = await refuseEnds('delete');
  await Promise.all([add(1), add(2), add(3), add(4)]);
  await until('four run', async () => ran.length === 5);
  for (const { resolve } of ends) {
    resolve();
    await sleep(100);
  }
  await acceptEnds();
  await add(5);
  await until('the next one has run', async () => ran.length === 6, { withinMs: 20_000 });
  await forgetJobs();
});

test('a runner that cannot add its minutely jobs leaves no connection', async () => {
  const refuse = `create function refuse_jobs() returns trigger language plpgsql as $$ begin
       raise exception using errcode = '57P01';
     end $$;
     create trigger refuse_jobs before insert on ${jobsTable}
       for each row execute function refuse_jobs()`;
  await query(store.fork(), refuse, []);
  start();
  await until('it listens', async () => (await connectionsOfRunners()) > 0);
  await sleep(1_500);
  await query(store.fork(), 'drop function refuse_jobs cascade', []);
  await add(1);
  await untilDone(1);
  await runner?.stop();
  await until('no connection is left', async () => (await connectionsOfRunners()) === 0, {
    withinMs: 15_000,
  });
});

test('a runner whose server is gone without a word takes jobs and hears notices from the next one', async () => {
  const server = await givenSilentServer(store.url);
  const heard: string[] = [];
  const notices = { changed: (text: string) => void heard.push(text) };
  const log = createLog('test', 'silent');
  runner = runJobs({ url: server.url, service, tasks: { note }, notices, log });
  await add(1);
  await untilDone(1);
  server.fallSilent();
  await add(2);
  await until('the runner goes on', async () => done.length === 2);
  await until('notices are heard', async () => {
    await sendNotice(store.fork(), service, { name: 'changed', text: 'now' });
    return heard.length > 0;
  });
  await runner.stop();
  server.close();
}, 120_000);

test('a stopped runner leaves later jobs to the next one', async () => {
  start();
  await add(1);
  await untilDone(1);
  await runner?.stop();
  await add(2);
  expect(await waiting()).toHaveLength(1);
  start();
  await untilDone(2);
  expect(done).toEqual([{ number: 1 }, { number: 2 }]);
});

test('a job whose process was killed while it ran runs again', async () => {
  await add(1);
  await query(
    store.fork(),
    `update ${service}_jobs._private_jobs
     set locked_by = 'gone', locked_at = now() - interval '3 minutes', attempts = 1`,
    [],
  );
  start();
  await untilDone(1);
  expect(done).toEqual([{ number: 1 }]);
});

test('a notice reaches every process of the service once its transaction commits, and no other service', async () => {
  const heard: string[] = [];
  const hear = (process: string, name = service) =>
    runJobs({
      url: store.url,
      service: name,
      tasks: { note },
      notices: { changed: (text) => void heard.push(`${process} ${text}`) },
      log: createLog('test', 'silent'),
    });
  await migrateJobs(store.fork(), store.url, 'neighbour');
  const runners = [hear('first'), hear('second'), hear('other', 'neighbour')];
  const send = (text: string) => sendNotice(store.fork(), service, { name: 'changed', text });
  await until('both listen', async () => {
    await send('w0');
    return ['first w0', 'second w0'].every((each) => heard.includes(each));
  });
  heard.length = 0;
  await store.fork().transactional(async (em) => {
    await sendNotice(em, service, { name: 'changed', text: 'w1' });
    await send('w2');
    await until('the later one arrives', async () => heard.includes('second w2'));
    expect(heard).not.toContain('second w1');
  });
  await until('both hear', async () =>
    ['first w1', 'second w1'].every((each) => heard.includes(each)),
  );
  expect(heard.some((each) => each.startsWith('other'))).toBe(false);
  await Promise.all(runners.map((each) => each.stop()));
});
