import { MessageFactKind } from '#gen/postrider/messages/v1/facts_pb.ts';
import { query } from '#lib/postgres/query.ts';
import type { Given } from './given.ts';
import type { ModelPerson } from './segment-model.ts';
import { kinds, lists, now } from './segment-worlds.ts';

/** Stores contacts with all that they did in a new workspace. */
export async function store(
  { context, facts }: Given,
  workspaceId: string,
  people: readonly ModelPerson[],
): Promise<void> {
  const insert = (table: string, rows: object[]) =>
    query(
      context.store.fork(),
      `insert into ${table} (workspace_id, ${Object.keys(rows[0] ?? {}).join(', ')})
       select $1, ${Object.keys(rows[0] ?? {}).join(', ')} from jsonb_populate_recordset(null::${table}, $2::jsonb)`,
      [workspaceId, JSON.stringify(rows)],
    );
  const at = now;
  await insert(
    'contacts',
    people.map(({ email, fields }) => ({ email, ...fields })),
  );
  const stamps = { created_at: at, updated_at: at };
  const memberships = people.flatMap(({ email, memberships }) =>
    memberships.map(({ listId, status, isRemoved }) => ({
      email,
      list_id: listId,
      status,
      deleted_at: isRemoved ? at : null,
      ...stamps,
    })),
  );
  if (memberships.length > 0) await insert('memberships', memberships);
  const described = { name: 'List', description: '', is_double_optin: false, is_public: true };
  await insert(
    'lists',
    lists.map((id) => ({ id, ...described, ...stamps, deleted_at: id === 'gone' ? at : null })),
  );
  const events = people.flatMap(({ email, events }, who) =>
    events.map(({ name, at: occurred_at, isDeleted, goal }, place) => ({
      email,
      event_name: name,
      external_id: `${who} ${place}`,
      properties: {},
      source: 'api',
      occurred_at,
      goal_type: goal?.type ?? null,
      goal_name: goal?.name ?? null,
      goal_value: goal?.cents === undefined ? null : goal.cents / 100,
      deleted_at: isDeleted ? at : null,
      ...stamps,
    })),
  );
  if (events.length > 0) await insert('custom_events', events);
  for (const { email, messages } of people) {
    for (const { kind, templateId, at } of messages) {
      const factKind = kinds[kind] ?? MessageFactKind.UNSPECIFIED;
      facts.push({ workspaceId, email, kind: factKind, templateId, at: new Date(at) });
    }
  }
}
