import { ConfirmationDueSchema, WelcomeDueSchema } from '#gen/postrider/events/v1/list_pb.ts';
import { typeOf } from '#lib/events/contracts.ts';
import type { EventSource } from '#lib/events/outbox.ts';
import { timestampSql } from '#lib/postgres/time-sql.ts';
import { momentSql, momentTextSql } from '../changes/moment.ts';
import {
  type ConsentStatus,
  eventOf,
  type MembershipState,
  statuses,
  timelineKindOf,
} from './membership.ts';

/** SQL of the change of a row with its `previous_status`. */
export const statusChangeSql = (next: string) =>
  `jsonb_build_object('status', jsonb_build_object('old', previous_status, 'new', ${next}))`;

const states: readonly MembershipState[] = ['none', ...statuses];

/** The branches of a case over rows of `transition`. */
function branchesOf(nameOf: (from: MembershipState, to: ConsentStatus) => string | undefined) {
  return states.flatMap((from) =>
    statuses.flatMap((to) => {
      const name = nameOf(from, to);
      const when = `transition.known = '${from}' and transition.next = '${to}'`;
      return name ? [{ name, branch: `when ${when} then '${name}'` }] : [];
    }),
  );
}

const typed = branchesOf(eventOf);
/** SQL of the timeline's kind of a row of `transition`. */
export const kindSql = `case ${branchesOf(timelineKindOf)
  .map(({ branch }) => branch)
  .join(' ')} end`;

/**
 * SQL of the data of a list event, for rows called `row` joined with their `list`, beside the step
 * `moment`.
 */
export function dataSql(status: string, row: string): string {
  return `json_build_object('email', ${row}.email, 'list_id', ${row}.list_id, 'list_name', list.name,
    'status', ${status}, 'previous_status', ${row}.previous_status, 'event_timestamp', ${momentTextSql})`;
}

export const statusEvents: EventSource = {
  types: [...new Set(typed.map(({ name }) => name))],
  type: `case ${typed.map(({ branch }) => branch).join(' ')} end`,
  occurredAt: momentSql,
  data: dataSql('transition.next', 'transition'),
  from: `changed
    join transition on (transition.list_id, transition.email) = (changed.list_id, changed.email)
    join lists list on (list.workspace_id, list.id) = ($1, changed.list_id)`,
  where: 'changed.deleted_at is null and list.deleted_at is null',
};

export const confirmationsDue: EventSource = {
  types: [typeOf(ConfirmationDueSchema)],
  occurredAt: momentSql,
  data: dataSql('transition.next', 'transition'),
  from: 'transition join lists list on (list.workspace_id, list.id) = ($1, transition.list_id)',
  where: `transition.next = 'pending'`,
};

/** Beside a step `changed` with the rows that a transition wrote at the time $2. */
export function welcomesDue({ isImport }: { isImport: boolean }): EventSource {
  return {
    types: [typeOf(WelcomeDueSchema)],
    occurredAt: momentSql,
    data: `json_build_object('email', changed.email, 'list_id', changed.list_id,
      'active_since', ${timestampSql('$2::timestamptz')}, 'delay_seconds', list.welcome -> 'delay_seconds',
      'is_import', ${isImport}, 'event_timestamp', ${momentTextSql})`,
    from: 'changed join lists list on (list.workspace_id, list.id) = ($1, changed.list_id)',
    where: `changed.status = 'active' and changed.deleted_at is null and list.deleted_at is null
      and ${isImport ? `(list.welcome ->> 'include_imports')::boolean` : 'list.welcome is not null'}`,
  };
}
