import { toJson } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import type { ResolveRecipientsRequest } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { allMailRefusalSql } from '../consent/opt-outs.ts';
import { readable } from '../contact/fields.ts';
import type { Context, Methods } from '../context.ts';

type RecipientRow = { reason: string; fields: string | null };

/**
 * A hot path: called for every message of a broadcast, with the addresses of ListAudience.
 * PostgreSQL writes the JSON, so that nothing is done here for each field.
 */
export function resolveRecipients({ store }: Context): Methods['resolveRecipients'] {
  return async (request) => {
    const read = request.listId === '' && !request.byHand ? resolveContacts : resolveMembers;
    const rows = await read(store.fork(), request);
    return {
      recipients: rows.map((row) => ({ skipReason: row.reason, valuesJson: row.fields ?? '' })),
    };
  };
}

function resolveMembers(
  em: EntityManager,
  request: ResolveRecipientsRequest,
): Promise<RecipientRow[]> {
  const { workspaceId, listId, emails, includeUnsubscribed, forConfirmation, byHand } = request;
  const since = request.activeSince.map((time) => toJson(TimestampSchema, time));
  return query<RecipientRow>(
    em,
    `select reason, case when reason = '' and contact.email is not null then ${valuesSql(request)} end as fields
     from unnest($3::text[], $7::timestamptz[]) with ordinality as asked (email, since, place)
     -- Looked up one by one: a join of whole tables is what the planner takes without statistics.
     left join lateral (
       select status, updated_at from memberships
       where workspace_id = $1 and list_id = $2 and email = asked.email and deleted_at is null
       limit 1
     ) membership on true
     left join lateral (
       select * from contacts
       where workspace_id = $1 and email = asked.email and (membership.status is not null or $6::boolean)
       limit 1
     ) contact on true
     cross join lateral (
       select case
         when $6::boolean and membership.status in ('bounced', 'complained') then membership.status
         when $6::boolean then ''
         when contact.email is null or not exists (
           select from lists where workspace_id = $1 and id = $2 and deleted_at is null
         ) then 'removed'
         when $5::boolean and membership.status = 'pending' then ''
         when $5::boolean then membership.status
         when membership.status = 'active' and membership.updated_at <> asked.since then 'unsubscribed'
         when membership.status = 'active' then ''
         when membership.status = 'unsubscribed' and $4::boolean then ''
         else membership.status
       end as reason
     ) decision
     order by place`,
    [workspaceId, listId, emails, includeUnsubscribed, forConfirmation, byHand, since],
  );
}

/** For a broadcast to segments alone. Its members were fixed when the audience was frozen. */
function resolveContacts(
  em: EntityManager,
  request: ResolveRecipientsRequest,
): Promise<RecipientRow[]> {
  return query<RecipientRow>(
    em,
    `select reason, case when reason = '' then ${valuesSql(request)} end as fields
     from unnest($2::text[]) with ordinality as asked (email, place)
     left join lateral (
       select * from contacts where workspace_id = $1 and email = asked.email limit 1
     ) contact on true
     cross join lateral (
       select case when contact.email is null then 'removed'
         else coalesce(${allMailRefusalSql('asked.email')}, '') end as reason
     ) decision
     order by place`,
    [request.workspaceId, request.emails],
  );
}

function valuesSql({ fields }: ResolveRecipientsRequest): string {
  const wanted = fields.map((name) => readable.get(name) ?? 'null').join(', ');
  return `json_build_array(${wanted})::text`;
}
