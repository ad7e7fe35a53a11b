import { ListRemovedSchema } from '#gen/postrider/events/v1/list_pb.ts';
import { typeOf } from '#lib/events/contracts.ts';
import { type Change, type EventScope, writeWithEvents } from '#lib/events/outbox.ts';
import { hiddenArray } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { binaryArray } from '../binary-array.ts';
import { entryStep } from '../changes/entries.ts';
import { momentSql, momentStep } from '../changes/moment.ts';
import { touches, touchStep } from '../changes/touch.ts';
import {
  anyTo,
  asks,
  type Cause,
  type ConsentStatus,
  changes,
  type ImportJoin,
  importJoins,
  type Join,
  joins,
  lifting,
  liveMembershipsSql,
  skewMs,
  type Transitions,
} from './membership.ts';
import {
  confirmationsDue,
  dataSql,
  kindSql,
  statusChangeSql,
  statusEvents,
  welcomesDue,
} from './membership-events.ts';

/**
 * Locks contacts and returns those that exist. Every change of memberships locks the contacts
 * first, so that what was read of them stays true and parallel calls wait for each other in one
 * order. Lists are locked before contacts.
 */
export async function lockContacts(
  em: EntityManager,
  workspaceId: string,
  emails: readonly string[],
): Promise<string[]> {
  const rows = await query<{ email: string }>(
    em,
    `select email from contacts where workspace_id = $1 and email = any($2::text[])
     order by email for no key update`,
    [workspaceId, emails],
  );
  return rows.map(({ email }) => email);
}

type Joining = { join: Join; emails: readonly string[]; listIds: readonly string[]; at: Date };

/** Adds contacts, which the caller has locked, to lists. */
export async function joinLists(
  scope: EventScope,
  { join, emails, listIds, at }: Joining,
): Promise<void> {
  if (listIds.length === 0) return;
  const values = [scope.workspaceId, at, listIds, binaryArray('text', emails)];
  await writeWithEvents(scope, joinChanges[join], values);
}

type Pairing = { join: ImportJoin; targets: readonly MembershipKey[]; at: Date };

type MembershipKey = { listId: string; email: string };

/** Adds contacts, which the caller has locked, to lists of their own. Each pair is named once. */
export async function joinEach(scope: EventScope, { join, targets, at }: Pairing): Promise<void> {
  if (targets.length === 0) return;
  await writeWithEvents(scope, pairChanges[join], [
    scope.workspaceId,
    at,
    binaryArray(
      'text',
      targets.map(({ listId }) => listId),
    ),
    binaryArray(
      'text',
      targets.map(({ email }) => email),
    ),
  ]);
}

const isImport = (join: Join) => Object.values<Join>(importJoins).includes(join);

/** An import has thousands of contacts, and a plan of its own; a call has a few. */
function joinChange(join: Join): Change {
  const arrays = ['$3::text[]', '$4::text[]'].map((each) =>
    isImport(join) ? each : hiddenArray(each),
  );
  return joinOf(join, `unnest(${arrays[0]}) as list_id, unnest(${arrays[1]}) as email`);
}

function pairChange(join: ImportJoin): Change {
  return joinOf(join, 'unnest($3::text[], $4::text[]) as pair (list_id, email)');
}

function joinOf(join: Join, targets: string): Change {
  return {
    steps: `target as (
       select list_id, email
       from ${targets}
     ),
     ${changeSteps({ transitions: joins[join], deletedAt: 'null', isJoin: true })}${liftStep(join)}`,
    events: [
      ...eventsOf(Object.values(joins[join]), { isImport: isImport(join) }),
      ...(asks.has(join) ? [confirmationsDue] : []),
    ],
    answer: 'true',
    ...(isImport(join) ? { plannedEachTime: 'of thousands of contacts' } : { isPrepared: true }),
  };
}

/** A step that lifts the opt-outs of those who are active in a list by their own will. */
function liftStep(join: Join): string {
  if (!lifting.has(join)) return '';
  return `,
     lifted as (
       delete from opt_outs where workspace_id = $1
         and email = any(array(select email from transition where next = 'active'))
     )`;
}

/** An empty list id means every list. */
export type MembershipTarget = {
  email: string;
  listId: string;
  /**
   * When the cause happened, in RFC 3339, where its event may come late: memberships that changed
   * since stay.
   */
  happenedAt?: string;
};

type Changing = { targets: readonly MembershipTarget[]; at: Date };

/** Changes memberships for a cause. Removed ones follow, so that a return can't lift a status. */
export async function changeMemberships(
  scope: EventScope,
  { cause, targets, at }: Changing & { cause: Cause },
): Promise<void> {
  const emails = targets.map(({ email }) => email);
  await lockContacts(scope.em, scope.workspaceId, emails);
  await writeWithEvents(scope, causeChanges[cause], [
    ...[scope.workspaceId, at, emails],
    targets.map(({ listId }) => listId),
    targets.map(({ happenedAt }) => happenedAt ?? null),
  ]);
}

/** The events of a change that leads to these states. */
const eventsOf = (next: readonly ConsentStatus[], { isImport }: { isImport: boolean }) =>
  next.includes('active') ? [statusEvents, welcomesDue({ isImport })] : [statusEvents];

const causeChange = (transitions: Transitions): Change => ({
  steps: `target as (
     select distinct membership.list_id, membership.email
     from unnest(${hiddenArray('$3::text[]')}, $4::text[], $5::timestamptz[]) as named (email, list_id, happened_at)
     cross join lateral (
       select list_id, email from memberships
       where workspace_id = $1 and email = named.email and named.list_id in ('', list_id)
         and (named.happened_at is null or updated_at <= named.happened_at + interval '${skewMs} milliseconds')
       offset 0
     ) membership
   ),
   ${changeSteps({ transitions, deletedAt: 'transition.deleted_at', isJoin: false })}`,
  events: eventsOf(Object.values(transitions), { isImport: false }),
  answer: 'true',
  isPrepared: true,
});

/**
 * Sets the status of memberships, each named once, whatever it was. Answers for each in order
 * whether there is one.
 */
export async function setStatus(
  scope: EventScope,
  { status, targets, at }: Changing & { status: ConsentStatus },
): Promise<boolean[]> {
  const emails = targets.map(({ email }) => email);
  await lockContacts(scope.em, scope.workspaceId, emails);
  const answer = await writeWithEvents<{ found: number[] }>(scope, statusChanges[status], [
    ...[scope.workspaceId, at, emails],
    targets.map(({ listId }) => listId),
  ]);
  const found = new Set(answer?.found);
  return targets.map((_, index) => found.has(index + 1));
}

const statusChange = (status: ConsentStatus): Change => ({
  steps: `target as materialized (
     select membership.list_id, membership.email, place
     from unnest(${hiddenArray('$3::text[]')}, $4::text[]) with ordinality as named (email, list_id, place)
     cross join lateral (
       select membership.list_id, membership.email from ${liveMembershipsSql}
       where membership.workspace_id = $1 and membership.list_id = named.list_id and membership.email = named.email
       offset 0
     ) membership
   ),
   ${changeSteps({ transitions: anyTo(status), deletedAt: 'transition.deleted_at', isJoin: false })}`,
  events: eventsOf([status], { isImport: false }),
  answer: `(select coalesce(json_agg(place), '[]') from target) as found`,
  isPrepared: true,
});

/** Ends existing memberships; their status is kept for a return. */
export async function removeMemberships(
  scope: EventScope,
  { listId, emails, at }: { listId: string; emails: readonly string[]; at: Date },
): Promise<number> {
  const held = await lockContacts(scope.em, scope.workspaceId, emails);
  const answer = await writeWithEvents<{ removed: number }>(
    scope,
    {
      steps: `removed as (
       update memberships set deleted_at = $2, updated_at = $2
       where workspace_id = $1 and list_id = $3 and email = any($4::text[]) and deleted_at is null
       returning list_id, email, status, status as previous_status
     ),
     ${entryStep({
       workspace: '$1',
       at: '$2',
       rows: `select email, 'list.removed' as kind, list_id as entity_id, ${statusChangeSql('null')} as changes from removed`,
     })},
     ${touchLists('removed')},
     ${momentStep('removed')}`,
      events: [
        {
          types: [typeOf(ListRemovedSchema)],
          occurredAt: momentSql,
          data: dataSql('removed.status', 'removed'),
          from: 'removed join lists list on (list.workspace_id, list.id) = ($1, removed.list_id)',
        },
      ],
      answer: '(select count(*)::int from removed) as removed',
    },
    [scope.workspaceId, at, listId, held],
  );
  return answer?.removed ?? 0;
}

/** Applies the rule to each target and writes those that change. */
function changeSteps({
  transitions,
  deletedAt,
  isJoin,
}: {
  transitions: Transitions;
  deletedAt: string;
  isJoin: boolean;
}): string {
  // Of a membership that exists.
  const isChange = isJoin ? '(status <> next or deleted_at is not null)' : 'status <> next';
  return `current_state as (
       select target.list_id, target.email, membership.status, membership.deleted_at,
         case
           -- A return after leaving all mail is one after leaving this list.
           when ${isJoin} and membership.status is null and exists (
             select from opt_outs where workspace_id = $1 and email = target.email
           ) then 'unsubscribed'
           when membership.status is null then 'none'
           when ${isJoin} and membership.deleted_at is not null
             and membership.status in ('active', 'pending') then 'none'
           else membership.status
         end as known
       from target
       -- Looked up one by one: without statistics the planner would read the whole table.
       left join lateral (
         select status, deleted_at from memberships
         where workspace_id = $1 and list_id = target.list_id and email = target.email
         limit 1
       ) membership on true
     ),
     transition as materialized (
       select *, nullif(known, 'none') as previous_status, ${caseSql('known', transitions)} as next
       from current_state
     ),
     changed as (
       insert into memberships (workspace_id, list_id, email, status, first_status, created_at, updated_at, deleted_at)
       select $1, list_id, email, next, nullif(next, 'active'), $2::timestamptz, $2::timestamptz, ${deletedAt}
       from transition
       where next is not null and (status is null or ${isChange})
       order by list_id collate "C", email collate "C"
       on conflict (workspace_id, list_id, email) do update set
         status = excluded.status, updated_at = excluded.updated_at, deleted_at = excluded.deleted_at
       returning list_id, email, status, deleted_at
     ),
     ${entryStep({
       workspace: '$1',
       at: '$2',
       rows: `select email, ${kindSql} as kind, list_id as entity_id, ${statusChangeSql('next')} as changes from transition
         where next is not null and status is not null and ${isChange} and ${isJoin ? 'true' : 'deleted_at is null'}`,
     })},
     ${touchLists('changed')},
     ${momentStep('changed')}`;
}

function touchLists(step: string): string {
  return touchStep({
    workspace: '$1',
    rows: `select email, array['${touches.lists}', '${touches.list('')}' || list_id] as touched from ${step}`,
  });
}

function caseSql(column: string, transitions: Transitions): string {
  const branches = Object.entries(transitions).map(([from, to]) => `when '${from}' then '${to}'`);
  return `case ${column} ${branches.join(' ')} end`;
}

/** Made once: their texts have kilobytes. */
const joinChanges: Record<Join, Change> = {
  import: joinChange('import'),
  importUnsubscribed: joinChange('importUnsubscribed'),
  importBounced: joinChange('importBounced'),
  importComplained: joinChange('importComplained'),
  subscribe: joinChange('subscribe'),
  ask: joinChange('ask'),
  askWithOptIn: joinChange('askWithOptIn'),
  askWithProof: joinChange('askWithProof'),
  askWithProofAndOptIn: joinChange('askWithProofAndOptIn'),
  choose: joinChange('choose'),
};

const pairChanges: Record<ImportJoin, Change> = {
  import: pairChange('import'),
  importUnsubscribed: pairChange('importUnsubscribed'),
  importBounced: pairChange('importBounced'),
  importComplained: pairChange('importComplained'),
};

const causeChanges: Record<Cause, Change> = {
  confirm: causeChange(changes.confirm),
  unsubscribe: causeChange(changes.unsubscribe),
  bounce: causeChange(changes.bounce),
  complaint: causeChange(changes.complaint),
};

const statusChanges: Record<ConsentStatus, Change> = {
  active: statusChange('active'),
  pending: statusChange('pending'),
  unsubscribed: statusChange('unsubscribed'),
  bounced: statusChange('bounced'),
  complained: statusChange('complained'),
};
