import { type Kinds, kindsOf } from './kinds.ts';

/** Selects timelines and their entries. */
export type TimelineQuery = {
  /** SQL of the workspace's id. */
  workspace: string;
  /**
   * As in `timeline.list`; all if empty. The kinds of messages are not here: the messages service
   * is asked for them.
   */
  kinds: readonly string[];
  /**
   * SQL that is true of the addresses to read, for a column with an address, such as `= any($2)`,
   * `= $2`, or
   * `> $2 and … <= $3`. Each of these is a step or a range in an index.
   */
  scope: (email: string) => string;
  /** SQL of a time: only what happened then or later. */
  since?: string;
  /** SQL of a time: only what happened before. */
  until?: string;
  /** Binds a value and returns its placeholder. */
  bind: (value: unknown) => string;
};

/**
 * SQL of what happened to contacts, messages left out: a row for each entry, in no order, with
 * - `email`, `kind`, `created_at` (when it happened);
 * - `id`, a text that is unique for the address, in the order of bytes;
 * - `operation` and `entity_type`, as `timeline.list` answers them;
 * - `entity_id`: the list, segment, or the custom event's external id; null for the contact itself;
 * - `changes`: jsonb or null.
 *
 * Only tables that have rows of the kinds are read, and of them only the columns that are selected:
 * to count, write
 * `select email, count(*) from (<this>) entry group by email`. It is a select without parentheses,
 * also if it has no rows.
 */
export function timelineRowsSql(query: TimelineQuery): string {
  const sources = timelineSources(query);
  return sources.length > 0 ? sources.join('\nunion all\n') : noRowsSql(query);
}

/** The selects of `timelineRowsSql`, one by one. */
export function timelineSources(query: TimelineQuery): string[] {
  const kinds = kindsOf(query.kinds);
  return sources.flatMap((source) => source(query, kinds) ?? []);
}

/** Uses a parameter that the caller has bound, as every other select does. */
function noRowsSql({ workspace }: TimelineQuery): string {
  return `select null::text as email, null::text as kind, null::timestamptz as created_at, null::text as id,
    null::text as operation, null::text as entity_type, null::text as entity_id, null::jsonb as changes
  where ${workspace}::text is null`;
}

type Source = (query: TimelineQuery, kinds: Kinds) => string | undefined;

const sources: readonly Source[] = [
  function created(query, { own }) {
    if (!own.has('contact.created')) return undefined;
    return select(query, {
      from: 'contacts',
      kind: `'contact.created'`,
      id: `'contact.created'`,
      operation: `'insert'`,
      entityType: `'contact'`,
    });
  },

  function written(query, { own }) {
    const kinds = [...own].filter((kind) => kind !== 'contact.created');
    if (kinds.length === 0) return undefined;
    return select(query, {
      from: 'timeline_entries',
      kind: 'kind',
      id: 'id::text',
      operation: `case when kind in ('segment.left', 'list.removed') then 'delete'
        when kind = 'segment.joined' then 'insert' else 'update' end`,
      entityType: `case split_part(kind, '.', 1) when 'contact' then 'contact' when 'list' then 'contact_list'
        else 'contact_segment' end`,
      entityId: 'entity_id',
      changes: 'changes',
      where: `kind = any(${query.bind(kinds)}::text[])`,
    });
  },

  function joinedLists(query, { own }) {
    const statuses = [...firstStatuses].filter(([, kind]) => own.has(kind));
    if (statuses.length === 0) return undefined;
    const named = query.bind(statuses.map(([status]) => status));
    return select(query, {
      from: 'memberships',
      kind: `case ${firstStatus} ${[...firstStatuses].map(([status, kind]) => `when '${status}' then '${kind}'`).join(' ')} end`,
      id: `'list:' || list_id`,
      operation: `'insert'`,
      entityType: `'contact_list'`,
      entityId: 'list_id',
      changes: `jsonb_build_object('status', jsonb_build_object('old', null, 'new', ${firstStatus}))`,
      where: `${firstStatus} = any(${named}::text[])`,
    });
  },

  function inSegments(query, { own }) {
    if (!own.has('segment.joined')) return undefined;
    return select(query, {
      from: 'segment_members',
      kind: `'segment.joined'`,
      createdAt: 'matched_at',
      id: `'segment:' || segment_id`,
      operation: `'insert'`,
      entityType: `'contact_segment'`,
      entityId: 'segment_id',
    });
  },

  function customEvents(query, { events }) {
    if (events.names.length === 0 && events.prefixes.length === 0) return undefined;
    return select(query, {
      from: 'custom_events',
      kind: `'custom_event.' || event_name`,
      createdAt: 'occurred_at',
      id: `'custom_event:' || event_name || ':' || external_id`,
      operation: `'insert'`,
      entityType: `'custom_event'`,
      entityId: 'external_id',
      where: `deleted_at is null and ${namedSql(query, events)}`,
    });
  },
];

function namedSql({ bind }: TimelineQuery, { names, prefixes }: Kinds['events']): string {
  if (prefixes.includes('')) return 'true';
  const parts = prefixes.map((prefix) => `starts_with(event_name, ${bind(prefix)})`);
  if (names.length > 0) parts.push(`event_name = any(${bind(names)}::text[])`);
  return `(${parts.join(' or ')})`;
}

/** The first states of memberships, and the kinds of their entries. */
const firstStatuses = new Map([
  ['active', 'list.subscribed'],
  ['pending', 'list.pending'],
]);
const firstStatus = `coalesce(first_status, 'active')`;

/** SQL expressions over the rows of a table; a column that is absent is null. */
type Columns = {
  from: string;
  kind: string;
  id: string;
  operation: string;
  entityType: string;
  entityId?: string;
  changes?: string;
  createdAt?: string;
  where?: string;
};

function select(
  { workspace, scope, since, until }: TimelineQuery,
  {
    from,
    createdAt = 'created_at',
    entityId = 'null',
    changes = 'null',
    where,
    ...columns
  }: Columns,
): string {
  const conditions = [
    `workspace_id = ${workspace}`,
    scope('email'),
    since && `${createdAt} >= ${since}::timestamptz`,
    until && `${createdAt} < ${until}::timestamptz`,
    where,
  ];
  return `select email, ${columns.kind} as kind, ${createdAt} as created_at, (${columns.id}) collate "C" as id,
    ${columns.operation} as operation, ${columns.entityType} as entity_type, ${entityId}::text as entity_id,
    ${changes}::jsonb as changes
  from ${from}
  where ${conditions
    .filter(Boolean)
    .map((condition) => `(${condition})`)
    .join(' and ')}`;
}
