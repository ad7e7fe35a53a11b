import { beforeEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { resetAfterEach, useService } from '../test/given.ts';
import { givenSent } from '../test/given-reports.ts';
import { clearReports } from './clear-reports.ts';

const given = useService();
resetAfterEach(given);
const em = () => given.store.fork();

beforeEach(async () => {
  await query(em(), 'truncate inbound_reports, suppressions, lifted_suppressions', []);
});

async function givenReports(workspaceId: string, count: number, days: number, isDue = false) {
  await query(
    em(),
    `insert into inbound_reports (workspace_id, integration_id, event_key, id, source, state, type, email, occurred_at,
       received_at, due_at)
     select $1, 'smtp-1', gen_random_uuid()::text, gen_random_uuid(), 'smtp', 'applied', 'delivered', 'ann@example.com', now(),
       now() - $3::int * interval '1 day' - number * interval '1 second', case when $4 then now() end
     from generate_series(1, $2::int) number`,
    [workspaceId, count, days, isDue],
  );
}
const left = async () => {
  const rows = await query<{ workspace_id: string; count: number }>(
    em(),
    'select workspace_id, count(*)::int from inbound_reports group by 1 order by 1',
    [],
  );
  return rows.map(({ workspace_id, count }) => `${workspace_id} ${count}`);
};

test('reports are deleted after thirty days, unless they still wait', async () => {
  await givenReports('w1', 600, 31);
  await givenReports('w1', 2, 31, true);
  await givenReports('w1', 3, 29);
  await givenReports('w2', 4, 31);
  await clearReports(given.context).task();
  expect(await left()).toEqual(['w1 5']);
});

test('beyond the quota the oldest that are done are deleted, down to nine tenths of it', async () => {
  given.world.quotas = { inbound_reports: 1_000n };
  const { context } = given.newProcess();
  await givenReports('w1', 1_600, 0);
  await givenReports('w2', 100, 0);
  await clearReports(context).task();
  expect(await left()).toEqual(['w1 900', 'w2 100']);
});

test('a suppression ends when its time has come, and others stay', async () => {
  await query(
    em(),
    `insert into suppressions (workspace_id, email, reason, created_at, expires_at) values
       ('w1', 'over@example.com', 'bounced', now(), now() - interval '1 second'),
       ('w1', 'later@example.com', 'bounced', now(), now() + interval '1 day'),
       ('w1', 'never@example.com', 'bounced', now(), null)`,
    [],
  );
  await clearReports(given.context).task();
  const rows = await query<{ email: string }>(
    em(),
    'select email from suppressions order by 1',
    [],
  );
  expect(rows.map(({ email }) => email)).toEqual(['later@example.com', 'never@example.com']);
});

test('a suppression of soft bounces stays if an older process has recorded a bounce of the address since', async () => {
  const emails = ['dead', 'before', 'full'].map((name) => `${name}@ended.example`);
  const { ids } = await givenSent(given, emails);
  await query(
    em(),
    `insert into suppressions (workspace_id, email, reason, created_at, expires_at)
     select 'w1', unnest($1::text[]), 'bounced', now() - interval '1 day', now() - interval '1 second'`,
    [emails],
  );
  await query(
    em(),
    `update messages set bounced_at = case id when $1 then now() else now() - interval '2 days' end
     where id in ($1, $2)`,
    ids.slice(0, 2),
  );
  // As version 0.2 suppresses.
  await query(
    em(),
    `insert into suppressions as s (workspace_id, email, reason, created_at) values ('w1', $1, 'bounced', now())
     on conflict (workspace_id, email) do update set reason = excluded.reason where s.reason <> 'bounced'`,
    [emails[0]],
  );
  await clearReports(given.context).task();
  const { suppressions } = await given.suppressions.listSuppressions({ workspaceId: 'w1' });
  expect(suppressions.map(({ email, expiresAt }) => [email, expiresAt])).toEqual([
    [emails[0], undefined],
  ]);
});

test('keys of integrations that are deleted are removed, and others stay', async () => {
  await query(
    em(),
    `insert into report_keys (workspace_id, integration_id, digest, types, created_at)
     select 'keys', unnest('{deleted,smtp-1}'::text[]), '', '{}', now()`,
    [],
  );
  await clearReports(given.context).task();
  const rows = await query(
    em(),
    "select integration_id from report_keys where workspace_id = 'keys'",
    [],
  );
  expect(rows).toEqual([{ integration_id: 'smtp-1' }]);
});

test('when a suppression was removed is known for ninety days', async () => {
  await query(
    em(),
    `insert into lifted_suppressions (workspace_id, email, lifted_at) values
       ('w1', 'old@example.com', now() - interval '91 days'),
       ('w1', 'newer@example.com', now() - interval '89 days')`,
    [],
  );
  await clearReports(given.context).task();
  const rows = await query(em(), 'select email from lifted_suppressions', []);
  expect(rows).toEqual([{ email: 'newer@example.com' }]);
});
