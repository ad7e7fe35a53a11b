import { Code, ConnectError } from '@connectrpc/connect';
import {
  CustomEventCreatedSchema,
  CustomEventDeletedSchema,
  CustomEventUpdatedSchema,
} from '#gen/postrider/events/v1/custom_event_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { typeOf } from '#lib/events/contracts.ts';
import { isWanted } from '#lib/events/interests.ts';
import {
  type EventScope,
  type EventSource,
  type Outbox,
  writeWithEvents,
} from '#lib/events/outbox.ts';
import type { Store } from '#lib/postgres/store.ts';
import { timestampSql } from '#lib/postgres/time-sql.ts';
import type { Quotas } from '#lib/quotas/quotas.ts';
import { binaryArray, type ElementType } from '../binary-array.ts';
import { momentSql, momentStep } from '../changes/moment.ts';
import { touches, touchStep } from '../changes/touch.ts';
import { lockContacts } from '../consent/membership-queries.ts';
import type { ContactRow } from '../contact/input.ts';
import { upsertContacts } from '../contact/queries.ts';
import { beyondQuota, findBeyondQuota } from '../contact/room.ts';
import type { EventRow } from './input.ts';

/** The effect of a row: `ignore` if it changed nothing. */
export type CustomEventOutcome = {
  action: 'create' | 'update' | 'delete' | 'ignore';
  /** The event as it is stored, as JSON. */
  event?: string;
};

type Upsert = {
  workspaceId: string;
  /** Each with another name or external id. */
  rows: readonly EventRow[];
  at: Date;
  /** Whether to return the events as they are stored. */
  reads: boolean;
};

const attemptsMax = 3;

/**
 * Creates, changes, deletes and restores events, and creates the contacts that they need, in one
 * transaction. Contacts are locked first, in the order of addresses, and then events in the order
 * of their keys, so that parallel calls can't deadlock.
 */
export async function upsertEvents(
  { store, outbox, quotas }: { store: Store; outbox: Outbox; quotas: Quotas },
  { workspaceId, ...upsert }: Upsert,
): Promise<CustomEventOutcome[]> {
  quotas.requireRoom(workspaceId, 'custom_events');
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await store
        .fork()
        .transactional((em) => tryUpsert({ em, outbox, quotas, workspaceId }, upsert));
    } catch (error) {
      if (!(error instanceof Missed) || attempt === attemptsMax) throw error;
    }
  }
}

/**
 * Another call has created one of the events since the statement began, so what was there before is
 * not known.
 */
class Missed extends ConnectError {
  constructor() {
    super('changed by another request at the same time; try again', Code.Aborted);
  }
}

async function tryUpsert(
  scope: EventScope & { quotas: Quotas },
  { rows, at, reads }: Omit<Upsert, 'workspaceId'>,
): Promise<CustomEventOutcome[]> {
  const live = rows.filter(({ deletedAt }) => deletedAt === undefined);
  const emails = [...new Set(live.map(({ email }) => email))];
  if ((await findBeyondQuota(scope, emails)).size > 0) throw await beyondQuota(scope);
  await lockOrCreate(scope, emails, at);
  const answer = await writeWithEvents<{ outcomes: CustomEventOutcome[] | null; missed: boolean }>(
    scope,
    reads ? readingChange : blindChange,
    [scope.workspaceId, at, ...columns.map(columnOf(rows))],
  );
  if (answer?.missed) throw new Missed();
  const outcomes = answer?.outcomes ?? [];
  const created = outcomes.filter(({ action }) => action === 'create').length;
  scope.quotas.grew(scope.workspaceId, 'custom_events', created);
  return outcomes;
}

/** Most contacts exist, and to lock them costs a tenth of the statement that creates some. */
async function lockOrCreate(
  scope: EventScope & { quotas: Quotas },
  emails: readonly string[],
  at: Date,
): Promise<void> {
  if (emails.length === 0) return;
  const known = new Set(await lockContacts(scope.em, scope.workspaceId, emails));
  const rows = emails.filter((email) => !known.has(email)).map(newContact);
  if (rows.length > 0) await upsertContacts(scope, { rows, at, skipExisting: true });
}

export function customEventNotFound(): ConnectError {
  return refusal('CUSTOM_EVENT_NOT_FOUND', 'Custom event not found');
}

const newContact = (email: string): ContactRow => ({ email, values: [] });

/** SQL of a row of `custom_events` as JSON by the public names. */
export function customEventJsonSql(event: string): string {
  return `json_build_object(
    'event_name', ${event}.event_name, 'external_id', ${event}.external_id, 'email', ${event}.email,
    'properties', ${event}.properties, 'occurred_at', ${timestampSql(`${event}.occurred_at`)},
    'source', ${event}.source, 'integration_id', ${event}.integration_id, 'goal_name', ${event}.goal_name,
    'goal_type', ${event}.goal_type, 'goal_value', ${event}.goal_value,
    'deleted_at', ${timestampSql(`${event}.deleted_at`)}, 'created_at', ${timestampSql(`${event}.created_at`)},
    'updated_at', ${timestampSql(`${event}.updated_at`)})`;
}

type Column = { name: string; property: keyof EventRow; type: ElementType; sql?: string };

const columns: readonly Column[] = [
  { name: 'event_name', property: 'eventName', type: 'text' },
  { name: 'external_id', property: 'externalId', type: 'text' },
  { name: 'email', property: 'email', type: 'text' },
  { name: 'properties', property: 'properties', type: 'jsonb' },
  { name: 'occurred_at', property: 'occurredAt', type: 'timestamptz' },
  { name: 'source', property: 'source', type: 'text' },
  { name: 'integration_id', property: 'integrationId', type: 'text' },
  { name: 'goal_name', property: 'goalName', type: 'text' },
  { name: 'goal_type', property: 'goalType', type: 'text' },
  { name: 'goal_value', property: 'goalValue', type: 'text', sql: 'goal_value::numeric(15, 2)' },
  { name: 'deleted_at', property: 'deletedAt', type: 'timestamptz' },
];

const columnOf =
  (rows: readonly EventRow[]) =>
  ({ type, property }: Column) =>
    binaryArray(
      type,
      rows.map((row) => row[property]),
    );

const names = columns.map(({ name }) => name).join(', ');
const arrays = columns.map(({ type }, index) => `$${index + 3}::${type}[]`).join(', ');
const goals = ['goal_name', 'goal_type', 'goal_value'];
const kept = goals.map((name) => `${name} = coalesce(excluded.${name}, event.${name})`).join(', ');
const replaced = [
  'email',
  'properties',
  'occurred_at',
  'source',
  'integration_id',
  'deleted_at',
  'updated_at',
]
  .map((name) => `${name} = excluded.${name}`)
  .join(', ');
const hasGoal = (row: string) =>
  `num_nonnulls(${goals.map((name) => `${row}.${name}`).join(', ')}) > 0`;

const typesByAction = {
  create: typeOf(CustomEventCreatedSchema),
  update: typeOf(CustomEventUpdatedSchema),
  delete: typeOf(CustomEventDeletedSchema),
};
const types = Object.values(typesByAction);

const stepsOf = (reads: boolean) => `given as materialized (
    select * from unnest(${arrays}) with ordinality as row (${names}, place)
  ),
  -- Locked, so that it is what is replaced, unless a call creates an event meanwhile.
  before as materialized (
    select place, event.*
    from (select * from given order by event_name collate "C", external_id collate "C") given
    cross join lateral (
      select email, occurred_at, deleted_at, ${hasGoal('event')} as had_goal,
        ${reads ? customEventJsonSql('event') : 'null::json'} as event
      from custom_events event
      where workspace_id = $1 and event_name = given.event_name and external_id = given.external_id
      for no key update
    ) event
  ),
  classified as materialized (
    select given.*, before.email as old_email, before.had_goal, before.event, before.place is not null as known,
      given.deleted_at is not null and before.deleted_at is not null as was_deleted,
      case
        when given.occurred_at <= before.occurred_at and (given.deleted_at is null) = (before.deleted_at is null) then 'ignore'
        when given.deleted_at is not null then 'delete'
        when before.place is null or before.deleted_at is not null then 'create'
        else 'update'
      end as action
    from given left join before using (place)
  ),
  written as (
    insert into custom_events as event (workspace_id, ${names}, created_at, updated_at)
    select $1, ${columns.map(({ name, sql }) => sql ?? name).join(', ')}, $2::timestamptz, $2::timestamptz
    from classified
    where action <> 'ignore'
    order by event_name collate "C", external_id collate "C"
    on conflict (workspace_id, event_name, external_id) do update set ${kept}, ${replaced}
    returning event_name, external_id, email, event.xmax <> 0 as is_known, ${hasGoal('event')} as has_goal,
      case when ${reads} or ${isWanted(types)} then ${customEventJsonSql('event')} end as event
  ),
  changed as materialized (
    select written.email, written.event, action, was_deleted, old_email,
      array['${touches.event('')}' || event_name]
        || case when has_goal or had_goal then '{${touches.goal}}'::text[] else '{}' end as touched
    from written join classified using (event_name, external_id)
  ),
  ${touchStep({
    workspace: '$1',
    rows: `select email, touched from changed
      union all select old_email, touched from changed where old_email <> email`,
  })},
  ${momentStep('written')}`;

const eventsTold: EventSource = {
  types,
  type: `case action ${Object.entries(typesByAction)
    .map(([action, type]) => `when '${action}' then '${type}'`)
    .join(' ')} end`,
  occurredAt: momentSql,
  data: `json_build_object('custom_event', changed.event)`,
  from: 'changed',
  where: 'not was_deleted',
};

const changeOf = (reads: boolean) => ({
  steps: stepsOf(reads),
  events: [eventsTold],
  answer: `(
    select json_agg(json_build_object('action', action
      ${reads ? `, 'event', coalesce(written.event, classified.event)::text` : ''}) order by place)
    from classified left join written using (event_name, external_id)
  ) as outcomes,
  exists (
    select from written join classified using (event_name, external_id) where not known and is_known
  ) as missed`,
  isPrepared: true,
});
const readingChange = changeOf(true);
const blindChange = changeOf(false);
