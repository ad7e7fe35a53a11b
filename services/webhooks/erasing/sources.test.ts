import { expect, test } from '@jest/globals';
import { readPersonRecords } from '#lib/postgres/person-records.ts';
import { query } from '#lib/postgres/query.ts';
import { personSources } from '../kept-data.ts';
import { deliveriesOf, sendEvents } from '../test/deliveries.ts';
import { givenDeliveries, givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { addressSql, pageAboutAddressSql } from './address.ts';

const given = useService();
const email = 'ann@example.com';

test('the deliveries about an address are found by pages, wherever the event has it, by one index', async () => {
  const workspaceId = givenWorkspace();
  const { id: subscriptionId } = await givenSubscription(given, workspaceId);
  const { store } = given.context;
  const payloads = [
    { email, list_id: 'l' },
    { contact: { email } },
    { custom_event: { email } },
    { email: 'other@example.com' },
    {},
  ];
  for (let count = 0; count < 6; count += 1) {
    await givenDeliveries(
      given,
      workspaceId,
      payloads.map(() => ({ subscriptionId })),
    );
  }
  await query(
    store.fork(),
    `update deliveries d set payload = $2::jsonb->((place - 1) % 5)::int
     from (select id, row_number() over (order by id) as place from deliveries where workspace_id = $1) numbered
     where d.workspace_id = $1 and d.id = numbered.id`,
    [workspaceId, JSON.stringify(payloads)],
  );
  const seen: unknown[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const page = await readPersonRecords(personSources(store, { workspaceId, email }), cursor);
    seen.push(...page.records.map(({ data }) => data.id));
    expect(JSON.stringify(page.records)).not.toContain('other@example.com');
    cursor = page.nextCursor;
  }
  expect(new Set(seen).size).toBe(18);
  expect(seen).toHaveLength(18);
  await query(store.fork(), 'analyze deliveries', []);
  const plan = await query<{ 'QUERY PLAN': string }>(
    store.fork(),
    `explain select id from deliveries delivery where workspace_id = $1 and ${addressSql('delivery')} = $2 order by id limit 11`,
    ['none', email],
  );
  expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('deliveries_own_address');
});

test('deliveries that share an event are found by pages, in the order of ids, with those of the last release', async () => {
  const workspaceId = givenWorkspace();
  const subscriptions = [];
  for (let count = 0; count < 4; count += 1) {
    subscriptions.push(await givenSubscription(given, workspaceId));
  }
  const data = { contact: { email: 'bob@example.com' } };
  await sendEvents(given, workspaceId, Array(6).fill(data));
  await givenDeliveries(given, workspaceId, [{ subscriptionId: subscriptions[0]!.id }]);
  const { store } = given.context;
  await query(
    store.fork(),
    `update deliveries set payload = $2 where workspace_id = $1 and payload is not null`,
    [workspaceId, JSON.stringify(data)],
  );
  const sources = personSources(store, { workspaceId, email: 'bob@example.com' });
  const seen: unknown[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const page = await readPersonRecords(sources, cursor);
    seen.push(...page.records.map(({ data: { id, payload } }) => [id, payload]));
    cursor = page.nextCursor;
  }
  expect(seen).toHaveLength(25);
  expect(seen).toEqual(
    (await deliveriesOf(given, workspaceId))
      .map(({ id, payload }) => [id, payload])
      .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  );
});

test('a delivery that has the payload of its event as well is there once', async () => {
  const workspaceId = givenWorkspace();
  await givenSubscription(given, workspaceId);
  const data = { contact: { email: 'cid@example.com' } };
  await sendEvents(given, workspaceId, [data, data]);
  const { store } = given.context;
  // As a process of version 0.2 that claims it leaves it.
  await query(
    store.fork(),
    `update deliveries set payload = (select payload from events where workspace_id = $1 limit 1)
     where workspace_id = $1`,
    [workspaceId],
  );
  const person = { workspaceId, email: 'cid@example.com' };
  const { records } = await readPersonRecords(personSources(store, person), '');
  expect(records).toHaveLength(2);
});

test('a page reads no more rows than it has, however many deliveries of an address come before it', async () => {
  const workspaceId = givenWorkspace();
  const em = given.context.store.fork();
  await query(
    em,
    `with numbers as (
       select number, lpad(to_hex(number), 8, '0') || '-0000-7000-8000-00000000' as start
       from generate_series(1, 6000) number
     ),
     new_events as (
       insert into events (workspace_id, id, payload)
       select $1, (start || '0000')::uuid,
         json_build_object('email', case number % 2 when 0 then $2 else 'other@example.com' end)
       from numbers
     )
     insert into deliveries (workspace_id, id, subscription_id, event_type, status, attempts, created_at)
     select $1, (start || '0001')::uuid, 's', 'contact.updated', 'delivered', 1, now() from numbers`,
    [workspaceId, email],
  );
  const page = pageAboutAddressSql({ workspaceId: '$1', email: '$2', after: '$3', limit: 11 });
  const rowsRead = async () => {
    const plan = await query<{ 'QUERY PLAN': string }>(
      em,
      `explain (analyze, costs off, timing off) ${page}`,
      [workspaceId, email, '00000fa0-0000-7000-8000-000000000001'],
    );
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    const counts = [...text.matchAll(/rows=(\d+)|Rows Removed by Filter: (\d+)/g)];
    expect(counts.length).toBeGreaterThan(5);
    return Math.max(...counts.map(([, rows, removed]) => Number(rows ?? removed)));
  };
  expect(await rowsRead()).toBeLessThan(30);
  await query(em, 'analyze events, deliveries', []);
  expect(await rowsRead()).toBeLessThan(30);
});
