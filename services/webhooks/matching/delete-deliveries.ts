import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { eventIdSql, isOfEventSql } from '../delivery.ts';

/**
 * Deletes the deliveries of a workspace that `chosen` selects, SQL of their ids in which `$1` is
 * the workspace, and the events of which none is left. Two that delete the last ones of an event at
 * once leave it to the retention of events.
 */
export async function deleteDeliveries(
  em: EntityManager,
  chosen: string,
  values: readonly unknown[],
): Promise<number> {
  const [row] = await query<{ count: number }>(
    em,
    `with gone as (
       delete from deliveries where workspace_id = $1 and id = any(array(${chosen})) returning id
     ),
     events_gone as (
       delete from events event
       where workspace_id = $1 and id = any(array(select distinct ${eventIdSql('gone')} from gone))
         and not exists (
           select from deliveries other
           where other.workspace_id = $1 and ${isOfEventSql('other', 'event')}
             and other.id not in (select id from gone)
           offset 0
         )
     )
     select count(*)::int as count from gone`,
    values,
  );
  return row?.count ?? 0;
}

/**
 * Deletes events that have no delivery, of those that `chosen` selects as `deleteDeliveries` does.
 */
export async function deleteStrayEvents(
  em: EntityManager,
  chosen: string,
  values: readonly unknown[],
): Promise<number> {
  const [row] = await query<{ count: number }>(
    em,
    `with gone as (
       delete from events event
       where workspace_id = $1 and id = any(array(${chosen}))
         and not exists (
           select from deliveries other
           where other.workspace_id = $1 and ${isOfEventSql('other', 'event')}
           offset 0
         )
       returning 1
     )
     select count(*)::int as count from gone`,
    values,
  );
  return row?.count ?? 0;
}
