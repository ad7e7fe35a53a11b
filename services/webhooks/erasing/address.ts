import { isOfEventSql } from '../delivery.ts';

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
