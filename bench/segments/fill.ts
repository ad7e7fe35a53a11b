import type { SegmentsBench } from './segments.ts';

const perStatement = 100_000;

/**
 * Contacts of ten countries, and events of the last year, of which a third are purchases. By SQL.
 */
export async function fill(
  { database, stack: { workspaceId } }: SegmentsBench,
  { contacts, events }: { contacts: number; events: number },
): Promise<void> {
  const startedAtMs = performance.now();
  for (let from = 1; from <= contacts; from += perStatement) {
    await database.query(
      `insert into contacts.contacts (workspace_id, email, country, custom_number_1, first_name, created_at, updated_at)
       select $1, 'person' || n || '@example.com', ('{DE,FR,IT,ES,PT,NL,BE,AT,CH,DK}'::text[])[1 + n % 10], n % 200,
         'Person ' || n, at, at
       from generate_series($2::int, $3::int) n, lateral (select now() - n * interval '1 second' as at) time`,
      [workspaceId, from, Math.min(contacts, from + perStatement - 1)],
    );
  }
  for (let from = 1; from <= events; from += perStatement) {
    await database.query(
      `insert into contacts.custom_events (workspace_id, event_name, external_id, email, properties, occurred_at, source,
         goal_type, goal_name, goal_value, created_at, updated_at)
       select $1, ('{orders/paid,page/seen,cart/filled}'::text[])[1 + n % 3], n::text,
         'person' || 1 + (n::bigint * 7919) % $4 || '@example.com', '{}', now() - (n % 365) * interval '1 day', 'api',
         case n % 3 when 0 then 'purchase' end, case n % 3 when 0 then 'order' end, case n % 3 when 0 then n % 90 end,
         now(), now()
       from generate_series($2::int, $3::int) n`,
      [workspaceId, from, Math.min(events, from + perStatement - 1), contacts],
    );
  }
  await database.query('vacuum analyze contacts.contacts, contacts.custom_events');
  const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(0);
  console.log(`\n${contacts} contacts and ${events} events in ${seconds} s`);
}
