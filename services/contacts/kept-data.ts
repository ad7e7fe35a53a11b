/*
 * Data that this service keeps: of a workspace (erased with it), of a person (exported), and sealed
 * (sealed anew by `rotate-secrets`). A new table gets its lines here; its retention is a task.
 */

import type { Client } from '@connectrpc/connect';
import type { PersonDataService } from '#gen/postrider/events/v1/events_pb.ts';
import type { ErasedTable } from '#lib/postgres/erase.ts';
import { type PersonSource, type PersonTable, personTable } from '#lib/postgres/person-records.ts';
import type { Store } from '#lib/postgres/store.ts';
import { addressHashSql } from './consent/refusals.ts';
import { contactJsonSql } from './contact/fields.ts';
import { customEventJsonSql } from './custom-events/queries.ts';

/**
 * Tables with a workspace's data. Nobody can subscribe, and no segment is built, once the first two
 * are gone.
 */
export const erasedTables: readonly ErasedTable[] = [
  { table: 'lists' },
  { table: 'segments' },
  { table: 'segment_changes' },
  { table: 'segment_members' },
  { table: 'memberships' },
  { table: 'custom_events' },
  { table: 'timeline_entries' },
  { table: 'contacts' },
  { table: 'opt_outs' },
  { table: 'refusals' },
  { table: 'refusal_keys' },
  { table: 'postponed_changes' },
  { table: 'form_solutions' },
  { table: 'message_interests' },
  { table: 'event_interests' },
  { table: 'idempotency_keys' },
];

/** The other services that keep something about people, by name. */
export type PersonData = Record<
  string,
  Pick<Client<typeof PersonDataService>, 'listPersonRecords'>
>;

type Person = { workspaceId: string; email: string };

const tables: readonly PersonTable[] = [
  { kind: 'contact', table: 'contacts', json: contactJsonSql().replaceAll('contact.', 'held.') },
  { kind: 'list', table: 'memberships', key: 'held.list_id' },
  { kind: 'segment', table: 'segment_members', key: 'held.segment_id' },
  { kind: 'opt_out', table: 'opt_outs' },
  {
    kind: 'refusal',
    table: 'refusals',
    json: `json_build_object('list_id', held.list_id, 'status', held.status, 'refused_at', held.refused_at)`,
    where: `address = (select ${addressHashSql('key', '$2')} from refusal_keys where workspace_id = $1)`,
    key: 'held.list_id',
  },
  {
    kind: 'custom_event',
    table: 'custom_events',
    json: customEventJsonSql('held'),
    time: 'held.occurred_at',
    key: `held.event_name || ' ' || held.external_id`,
  },
  { kind: 'timeline_entry', table: 'timeline_entries', time: 'held.created_at', key: 'held.id' },
];

/** All that is kept about a person: here first, then in the other services. */
export function personSources(
  { store, personData }: { store: Store; personData: PersonData },
  person: Person,
): PersonSource[] {
  return [
    ...tables.map((table) => personTable(store, person, table)),
    ...Object.entries(personData).map(([name, client]) => remoteSource(name, client, person)),
  ];
}

function remoteSource(name: string, client: PersonData[string], person: Person): PersonSource {
  return {
    name,
    async read(cursor) {
      const { records, nextCursor } = await client.listPersonRecords({ ...person, cursor });
      return {
        records: records.map(({ kind, data = {} }) => ({ kind, data })),
        next: nextCursor,
      };
    },
  };
}
