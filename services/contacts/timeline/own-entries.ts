import type { JsonObject } from '@bufbuild/protobuf';
import { pageOf, pageSql } from '#lib/limits/page.ts';
import { composed } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { TimelinePosition } from './position.ts';
import { timelineSources } from './rows.ts';

export type OwnEntry = TimelinePosition & {
  operation: string;
  entityType: string;
  kind: string;
  changes: JsonObject | undefined;
  entityId: string | undefined;
  entityData: JsonObject | undefined;
};

export type PageQuery = {
  workspaceId: string;
  email: string;
  kinds: readonly string[];
  since: string;
  from: TimelinePosition | undefined;
  limit: number;
};

/**
 * Entries that contacts itself has about a contact, newest first, and whether those are all;
 * undefined if there is no such contact.
 */
export async function readOwnEntries(
  store: Store,
  page: PageQuery,
): Promise<{ entries: OwnEntry[]; isAll: boolean } | undefined> {
  const { sql, values } = entriesSql(page);
  const rows = await query<{ entry: string | null }>(store.fork(), sql, values);
  if (rows.length === 0) return undefined;
  const texts = rows.flatMap(({ entry }) => entry ?? []);
  const { page: own, isLast } = pageOf(texts, page.limit, (text) => Buffer.byteLength(text));
  return { entries: own.map((text) => JSON.parse(text) as OwnEntry), isAll: isLast };
}

function entriesSql({ workspaceId, email, kinds, since, from, limit }: PageQuery) {
  const values: unknown[] = [workspaceId, email, since];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const sources = timelineSources({
    workspace: '$1',
    kinds,
    scope: (column) => `${column} = $2`,
    since: '$3',
    bind,
  });
  const behind = from ? behindSql(from, bind) : 'true';
  const order = `order by created_at desc, id desc limit ${limit}`;
  // Each is read in the order of an index, no further than the page.
  const parts = sources.map((sql) => `(select * from (${sql}) source where ${behind} ${order})`);
  const rows = parts.length > 0 ? parts.join(' union all ') : noRows;
  const entries = `select created_at, id, json_build_object(
        'time', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'id', id,
        'operation', operation, 'entityType', entity_type, 'kind', kind, 'changes', changes, 'entityId', entity_id,
        'entityData', ${entityDataSql}
      )::text as entry
    from (select * from (${rows}) entry ${order}) entry`;
  const sql = `select page.entry from contacts
    left join lateral (
      ${pageSql(entries, { text: 'entry', order: 'created_at desc, id desc' })}
    ) page on true
    where workspace_id = $1 and email = $2 and $3::timestamptz is not null
    order by page.created_at desc, page.id desc`;
  return { sql: composed(sql), values };
}

const noRows = `select null::timestamptz as created_at, null as id, null as operation, null as entity_type, null as kind,
  null::jsonb as changes, null as entity_id where false`;

function behindSql({ time, id }: TimelinePosition, bind: (value: unknown) => string): string {
  const at = `${bind(time)}::timestamptz`;
  return `created_at <= ${at} and (created_at < ${at} or id < ${bind(id)})`;
}

/** SQL of what the entity of a row called `entry` is now. */
const entityDataSql = `case entry.entity_type
  when 'contact_list' then (
    select json_build_object('id', list.id, 'name', list.name, 'status', (
      select status from memberships
      where workspace_id = $1 and list_id = list.id and email = $2 and deleted_at is null
    ))
    from lists list where list.workspace_id = $1 and list.id = entry.entity_id and list.deleted_at is null
  )
  when 'contact_segment' then (
    select json_build_object('id', segment.id, 'name', segment.name)
    from segments segment where segment.workspace_id = $1 and segment.id = entry.entity_id
  )
  when 'custom_event' then (
    select json_build_object('event_name', event_name, 'properties', properties, 'goal_name', goal_name,
      'goal_type', goal_type, 'goal_value', goal_value)
    from custom_events
    where workspace_id = $1 and event_name = substr(entry.kind, 14) and external_id = entry.entity_id
  ) end`;
