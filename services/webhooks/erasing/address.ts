import { eventIdOfSql, isOfEventSql } from '../delivery.ts';

/**
 * SQL of the address that the payload of a row is about, if any, as in the indexes `events_address`
 * and `deliveries_own_address`.
 */
export const addressSql = (row: string) =>
  `coalesce(${row}.payload->>'email', ${row}.payload->'contact'->>'email',
    ${row}.payload->'custom_event'->>'email')`;

/**
 * SQL of the deliveries about an address: those of events, and those of version 0.2, which have
 * their payload themselves.
 */
export const aboutAddressSql = (workspaceId: string, email: string) => `
  select delivery.* from events event
  cross join lateral (
    select * from deliveries kept
    where kept.workspace_id = event.workspace_id and ${isOfEventSql('kept', 'event')}
    offset 0
  ) delivery
  where event.workspace_id = ${workspaceId} and ${addressSql('event')} = ${email}
  union all
  select delivery.* from deliveries delivery
  where delivery.workspace_id = ${workspaceId} and ${addressSql('delivery')} = ${email}`;

/** Comes before the ids of all deliveries. */
export const beforeAllIds = '00000000-0000-0000-0000-000000000000';

/**
 * SQL of the same deliveries by id, from the next one after an id on. Both parts end at the limit,
 * and the indexes of addresses have the ids in order: a page reads what it has, however many come
 * before it. Deliveries with a payload of their own are in the second part alone.
 */
export const pageAboutAddressSql = (given: {
  workspaceId: string;
  email: string;
  after: string;
  limit: number;
}) => `
  (select delivery.* from events event
   cross join lateral (
     select * from deliveries kept
     where kept.workspace_id = event.workspace_id and ${isOfEventSql('kept', 'event')}
       and kept.id > ${given.after}::uuid and kept.payload is null
     order by kept.id
   ) delivery
   where event.workspace_id = ${given.workspaceId} and ${addressSql('event')} = ${given.email}
     and event.id >= ${eventIdOfSql(given.after)}
   order by event.id, delivery.id limit ${given.limit})
  union all
  (select delivery.* from deliveries delivery
   where delivery.workspace_id = ${given.workspaceId} and ${addressSql('delivery')} = ${given.email}
     and delivery.id > ${given.after}::uuid
   order by delivery.id limit ${given.limit})
  order by id limit ${given.limit}`;
