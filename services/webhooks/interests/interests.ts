import { ContactDeletedSchema } from '#gen/postrider/events/v1/contact_pb.ts';
import { typeOf } from '#lib/events/contracts.ts';
import type { Interests } from '#lib/events/interest-pushes.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';

/** The deliveries about a deleted contact are erased, whoever listens. */
const alwaysWanted = typeOf(ContactDeletedSchema);

/** Event types of subscriptions and listeners. Workspaces that never had one want none. */
export const interests: Interests = {
  consumer: 'webhooks',
  table: 'workspace_interests',
  task: 'pushInterests',
  unset: [],
  others: [],
  wantedTypes,
};

async function wantedTypes(em: EntityManager, workspaceId: string): Promise<string[]> {
  const rows = await query<{ type: string }>(
    em,
    `select unnest(event_types) as type from subscriptions where workspace_id = $1 and enabled
     union
     select unnest(event_types) from listeners where workspace_id = $1 and ended_at is null
     union
     select $2 where exists (select from subscriptions where workspace_id = $1)
       or exists (select from listeners where workspace_id = $1)
     order by type`,
    [workspaceId, alwaysWanted],
  );
  return rows.map(({ type }) => type);
}
