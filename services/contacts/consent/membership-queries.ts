import { ListRemovedSchema } from '#gen/postrider/events/v1/list_pb.ts';
import { typeOf } from '#lib/events/contracts.ts';
import { type EventScope, writeWithEvents } from '#lib/events/outbox.ts';
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
  type Join,
  joins,
  liveMembershipsSql,
  type Transitions,
} from './membership.ts';
import {
  confirmationsDue,
  dataSql,
  kindSql,
  statusChangeSql,
  statusEvents,
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
  await writeWithEvents(
    scope,
    {
      steps: `target as (
       select list_id, email
       from unnest($3::text[]) as list_id, unnest($4::text[]) as email
     ),
     ${changeSteps({ transitions: joins[join], deletedAt: 'null', isJoin: true })}`,
      events: asks.has(join) ? [statusEvents, confirmationsDue] : [statusEvents],
      answer: 'true',
    },
    [scope.workspaceId, at, listIds, binaryArray('text', emails)],
  );
}

/** An empty list id means every list. */
export type MembershipTarget = {
  email: string;
  listId: string;
  /**
   * When the cause happened, in RFC 3339, where it is told late: memberships that changed since
   * stay.
   */
  happenedAt?: string;
};

/** Clocks of two machines may differ so much: what follows a change within it counts as later. */
const skewMs = 1_000;

type Changing = { targets: readonly MembershipTarget[]; at: Date };

/** Changes memberships for a cause. Removed ones follow, so that a return can't lift a status. */
export async function changeMemberships(
  scope: EventScope,
  { cause, targets, at }: Changing & { cause: Cause },
): Promise<void> {
  await applyTransitions(scope, { transitions: changes[cause], targets, at });
}

/** Sets the status of a membership, whatever it was, and returns whether there is one. */
export async function setStatus(
  scope: EventScope,
  { status, email, listId, at }: MembershipTarget & { status: ConsentStatus; at: Date },
): Promise<boolean> {
  await lockContacts(scope.em, scope.workspaceId, [email]);
  const [row] = await query<{ found: boolean }>(
    scope.em,
    `select exists (
       select from ${liveMembershipsSql}
       where membership.workspace_id = $1 and membership.list_id = $2 and membership.email = $3
     ) as found`,
    [scope.workspaceId, listId, email],
  );
  if (!row?.found) return false;
  const change = { transitions: anyTo(status), targets: [{ email, listId }], at };
  await applyTransitions(scope, change);
  return true;
}

async function applyTransitions(
  scope: EventScope,
  { transitions, targets, at }: Changing & { transitions: Transitions },
): Promise<void> {
  const emails = targets.map(({ email }) => email);
  await lockContacts(scope.em, scope.workspaceId, emails);
  await writeWithEvents(
    scope,
    {
      steps: `target as (
       select distinct membership.list_id, membership.email
       from unnest($3::text[], $4::text[], $5::timestamptz[]) as named (email, list_id, happened_at)
       cross join lateral (
         select list_id, email from memberships
         where workspace_id = $1 and email = named.email and named.list_id in ('', list_id)
           and (named.happened_at is null or updated_at <= named.happened_at + interval '${skewMs} milliseconds')
         offset 0
       ) membership
     ),
     ${changeSteps({ transitions, deletedAt: 'judged.deleted_at', isJoin: false })}`,
      events: [statusEvents],
      answer: 'true',
    },
    [
      ...[scope.workspaceId, at, emails],
      targets.map(({ listId }) => listId),
      targets.map(({ happenedAt }) => happenedAt ?? null),
    ],
  );
}

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
     judged as materialized (
       select *, nullif(known, 'none') as previous_status, ${caseSql('known', transitions)} as next
       from current_state
     ),
     changed as (
       insert into memberships (workspace_id, list_id, email, status, first_status, created_at, updated_at, deleted_at)
       select $1, list_id, email, next, nullif(next, 'active'), $2::timestamptz, $2::timestamptz, ${deletedAt}
       from judged
       where next is not null and (status is null or ${isChange})
       order by list_id collate "C", email collate "C"
       on conflict (workspace_id, list_id, email) do update set
         status = excluded.status, updated_at = excluded.updated_at, deleted_at = excluded.deleted_at
       returning list_id, email, deleted_at
     ),
     ${entryStep({
       workspace: '$1',
       at: '$2',
       rows: `select email, ${kindSql} as kind, list_id as entity_id, ${statusChangeSql('next')} as changes from judged
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
