import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';
import { broadcastMessageId } from '../message.ts';

// Each id is one look into the primary key, also while the table has no statistics. Of an erased
// contact the address is gone: whoever has it now got nothing. `opened_at` is a person's open, or
// the first click.
const unopenedSql = `
  with given as materialized (
    select $1::text as workspace_id, id, email
    from unnest($2::uuid[], $3::text[]) as asked (id, email)
  )
  select coalesce(json_agg(email), '[]') as emails
  from given cross join lateral (
    select from messages m
    where m.workspace_id = given.workspace_id and m.id = given.id and m.contact_email = given.email
      and not m.by_hand and m.sent_at is not null and m.bounced_at is null
      and m.opened_at is null and m.clicked_at is null
    offset 0
  ) unopened`;

export function listUnopened({ facts }: Context): Methods['listUnopened'] {
  return async ({ workspaceId, broadcastId, emails }) => {
    const unique = [...new Set(emails)];
    const ids = unique.map((email) => broadcastMessageId(workspaceId, broadcastId, email));
    const [row] = await query<{ emails: string[] }>(facts.fork(), unopenedSql, [
      workspaceId,
      ids,
      unique,
    ]);
    return { emails: row?.emails ?? [] };
  };
}
