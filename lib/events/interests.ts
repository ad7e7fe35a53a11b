import type { ServiceImpl } from '@connectrpc/connect';
import type { EventProducerService } from '#gen/postrider/events/v1/events_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { query } from '../postgres/query.ts';
import type { Store } from '../postgres/store.ts';
import { consumersOf } from './contracts.ts';

/**
 * Part of every store whose changes make events. An empty workspace id is for all workspaces
 * without a row.
 */
export const interestsTable = `
  create table event_interests (
    consumer text not null,
    workspace_id text not null,
    types text[] not null,
    primary key (consumer, workspace_id)
  )`;

/**
 * Part of every store that has the table. Processes of the last release set no version, and
 * overwrite any.
 */
export const interestVersions =
  'alter table event_interests add column version bigint not null default 0';

/**
 * The RPC of every producer: what a consumer sets counts for each statement that begins after the
 * answer.
 */
export function setInterest(store: Store): ServiceImpl<typeof EventProducerService>['setInterest'] {
  return async ({ consumer, workspaceId, types, version }) => {
    const own = consumersOf(store.name).find((each) => each.consumer === consumer);
    if (!own) throw invalidField('consumer', `${store.name} sends it no events`);
    const stray = types.find((type) => !own.types.includes(type));
    if (stray !== undefined) {
      throw invalidField(
        'types',
        `${store.name} sends ${consumer} no ${stray.slice(0, 50)} events`,
      );
    }
    const [row] = await query<{ version: string }>(
      store.fork(),
      `insert into event_interests as own (consumer, workspace_id, types, version) values ($1, $2, $3, $4)
       on conflict (consumer, workspace_id) do update set
         types = case when $4 = 0 or $4 >= own.version then excluded.types else own.types end,
         version = greatest(own.version, $4)
       returning version`,
      [consumer, workspaceId, [...new Set(types)], version],
    );
    return { version: version === 0n ? 0n : BigInt(row?.version ?? 0) };
  };
}

/**
 * The first steps of a statement that makes events: `interest (consumer, types)` holds the
 * consumers, a parameter in JSON with all that they can get, and `wanted (types)` all their types
 * in one row. The statement reads them itself, since a process that had read them before would miss
 * what was set meanwhile.
 */
export function interestSteps({ consumers, workspace }: Record<'consumers' | 'workspace', string>) {
  return `interest as materialized (
       select possible.consumer, coalesce(own.types, possible.types) as types
       from json_to_recordset(${consumers}::json) as possible (consumer text, types text[])
       left join lateral (
         select types from event_interests
         where consumer = possible.consumer and workspace_id in ('', ${workspace}::text)
         order by workspace_id desc
         limit 1
       ) own on true
     ),
     wanted as materialized (
       select array_agg(type) as types from interest cross join unnest(interest.types) as type
     )`;
}

/**
 * SQL that is true if anybody wants one of the types; PostgreSQL evaluates it once for each
 * statement.
 */
export function isWanted(types: readonly string[]): string {
  return `(select types && '{${types.join(',')}}' from wanted)`;
}
