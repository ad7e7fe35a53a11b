import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { allMailRefusalSql } from '../consent/opt-outs.ts';

/** `next` is the address that the next page starts after; empty on the last page. */
export type AudiencePage = { emails: string[]; lists: number[]; timezones: string[]; next: string };

type PageOptions = {
  workspaceId: string;
  afterEmail: string;
  pageSize: number;
  withTimezones: boolean;
};

// The page is one value: rows cost the driver more than the addresses in them. Up to a page of each
// list is read in the order of its index, which is enough for the first page of all lists together.
const membersSql = `
  select json_build_object(
    'emails', coalesce(json_agg(email), '[]'),
    'lists', case when cardinality($2::text[]) > 1 then json_agg(place - 1) end,
    'timezones', case when $6 then json_agg(timezone) end,
    'next', case when count(*) = $5 then max(email) end
  )::text as page
  from (
    select distinct on (member.email) member.email, place,
      case when $6 then coalesce(
        (select c.timezone from contacts c where c.workspace_id = $1 and c.email = member.email), ''
      ) end as timezone
    from unnest($2::text[]) with ordinality as asked (list_id, place)
    cross join lateral (
      select email from memberships
      where workspace_id = $1 and list_id = asked.list_id and email > $3
        and status = any($4::text[]) and deleted_at is null
      order by email
      limit $5
    ) member
    order by member.email, place
    limit $5
  ) found`;

/** A page of the members of some lists, each of them once, through the first of the lists. */
export function readMembers(
  em: EntityManager,
  { listIds, statuses, ...asked }: PageOptions & { listIds: readonly string[]; statuses: string[] },
): Promise<AudiencePage> {
  const { workspaceId, afterEmail, pageSize, withTimezones } = asked;
  const values = [workspaceId, listIds, afterEmail, statuses, pageSize, withTimezones];
  return readPage(em, membersSql, values);
}

// The limit is on the contacts that are read, so that a page takes no longer where most of them
// have left.
const contactsSql = `
  select json_build_object(
    'emails', coalesce(json_agg(email order by email) filter (where refusal is null), '[]'),
    'timezones', case when $4 then json_agg(coalesce(timezone, '') order by email) filter (where refusal is null) end,
    'next', case when count(*) = $3 then max(email) end
  )::text as page
  from (
    select email, timezone, ${allMailRefusalSql('contact.email')} as refusal
    from (
      select email, timezone from contacts
      where workspace_id = $1 and email > $2
      order by email
      limit $3
    ) contact
  ) candidate`;

/**
 * A page of all contacts but for those who refuse mail of no list; short where it leaves out some.
 */
export function readContacts(em: EntityManager, asked: PageOptions): Promise<AudiencePage> {
  const { workspaceId, afterEmail, pageSize, withTimezones } = asked;
  return readPage(em, contactsSql, [workspaceId, afterEmail, pageSize, withTimezones]);
}

async function readPage(em: EntityManager, sql: string, values: unknown[]): Promise<AudiencePage> {
  const [row] = await query<{ page: string }>(em, sql, values);
  const found: { [Key in keyof AudiencePage]?: AudiencePage[Key] | null } = JSON.parse(
    row?.page ?? '{}',
  );
  const { emails, lists, timezones, next } = found;
  return {
    emails: emails ?? [],
    lists: lists ?? [],
    timezones: timezones ?? [],
    next: next ?? '',
  };
}

/** The page without those who are not wanted. */
export function keepOnly(
  { emails, lists, timezones, next }: AudiencePage,
  wanted: Set<string>,
): AudiencePage {
  const isKept = (_: unknown, place: number) => wanted.has(emails[place] ?? '');
  return {
    emails: emails.filter(isKept),
    lists: lists.filter(isKept),
    timezones: timezones.filter(isKept),
    next,
  };
}
