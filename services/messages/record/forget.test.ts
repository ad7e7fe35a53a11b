import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { testStore } from '../../../test/setup/database.ts';
import { until } from '../../../test/stack/until.ts';
import { openMessagesStore } from '../store.ts';
import { forgetContacts } from '../tasks/forget-contacts.ts';
import { forgetTwice } from './forget.ts';

const email = 'alerts@a.example';
const messages = 12_000;
const pass = 5_000;

let store: Store;
beforeAll(async () => {
  store = await testStore(openMessagesStore);
  await query(
    store.fork(),
    `insert into messages (workspace_id, id, contact_email, broadcast_id, template_id, template_version,
       integration_id, status, attempts, created_at, updated_at)
     select 'w', gen_random_uuid(), case number when 0 then 'other@a.example' else $1 end, 'b', 't', 1, 'i',
       case number when 1 then 'deferred' else 'sent' end, 1, at, at
     from generate_series(0, ${messages}) number, lateral (select now() - number * interval '1 second' as at) times`,
    [email],
  );
  await query(
    store.fork(),
    `insert into inbound_reports (workspace_id, integration_id, event_key, id, source, state, type, email, occurred_at, received_at)
     select 'w', 'i', number::text, gen_random_uuid(), 'ses', 'done', 'delivered', $1, now(), now()
     from generate_series(1, ${messages}) number`,
    [email],
  );
});
afterAll(() => store.close());

const reports = async (): Promise<number> =>
  (await query(store.fork(), 'select 1 from inbound_reports', [])).length;

const statuses = () =>
  query<{ status: string; kept: number }>(
    store.fork(),
    `select status, count(*) filter (where contact_email = $1)::int as kept from messages
     where contact_email in ($1, '') group by status order by status`,
    [email],
  );

/** Jobs that are due now, which are deleted. */
const dueJobs = () =>
  query<{ payload: unknown }>(
    store.fork(),
    `delete from messages_jobs._private_jobs j using messages_jobs._private_tasks t
     where t.id = j.task_id and t.identifier = 'forgetContacts' and run_at <= now() returning payload`,
    [],
  );

test('an address with very many messages is forgotten pass by pass, and those that wait at once', async () => {
  const deletions = new Map([[email, new Date().toISOString()]]);
  await store.fork().transactional((em) => forgetTwice(em, 'w', deletions));
  expect(await statuses()).toEqual([
    { status: 'sent', kept: messages - pass },
    { status: 'skipped', kept: 0 },
  ]);
  expect(await reports()).toBe(messages - pass);
  let passes = 1;
  for (let jobs = await dueJobs(); jobs.length > 0; jobs = await dueJobs()) {
    expect(jobs).toHaveLength(1);
    await forgetContacts(store)(jobs[0]?.payload);
    passes += 1;
  }
  expect(passes).toBe(3);
  expect(await statuses()).toMatchObject([{ kept: 0 }, { kept: 0 }]);
  expect(await reports()).toBe(0);
  const others = `select status from messages where contact_email = 'other@a.example'`;
  expect(await query(store.fork(), others, [])).toEqual([{ status: 'sent' }]);
});

test('a report that is applied while its address is forgotten goes as well', async () => {
  const late = 'late@a.example';
  await query(
    store.fork(),
    `insert into inbound_reports (workspace_id, integration_id, event_key, id, source, state, type, email, occurred_at, received_at)
     values ('w', 'i', 'late', gen_random_uuid(), 'ses', 'waiting', 'delivered', $1, now(), now() - interval '1 second')`,
    [late],
  );
  const deletions = new Map([[late, new Date().toISOString()]]);
  let forgetting: Promise<void> | undefined;
  await store.fork().transactional(async (em) => {
    await query(em, `update inbound_reports set state = 'done' where email = $1`, [late]);
    forgetting = store.fork().transactional((inner) => forgetTwice(inner, 'w', deletions));
    await until('it waits for the report', async () => {
      const waiting = `select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%inbound_reports%'`;
      return (await query(store.fork(), waiting, [])).length > 0;
    });
  });
  await forgetting;
  expect(await reports()).toBe(0);
});
