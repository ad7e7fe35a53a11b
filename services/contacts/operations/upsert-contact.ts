import { groupedCalls } from '../changes/grouped-calls.ts';
import { type ContactRow, requireContact } from '../contact/input.ts';
import { upsertContacts } from '../contact/queries.ts';
import { withinQuota } from '../contact/room.ts';
import type { Context, Methods } from '../context.ts';

type Upsert = { workspaceId: string; row: ContactRow; cleared: readonly string[] };

export function upsertContact(context: Context): Methods['upsertContact'] {
  const upsert = groupedCalls<Upsert, { isNew: boolean }>({
    // The fields to clear are the same for all rows of a statement.
    kindOf: ({ cleared }) => cleared,
    rowOf: ({ row }) => row.email,
    write: (workspaceId, upserts) => upsertAll(context, workspaceId, upserts),
  });
  return async ({ workspaceId, contact }, call) => {
    const { row, input } = requireContact(contact);
    const cleared = (input.nullFields?.paths ?? []).toSorted();
    const { isNew } = await upsert({ workspaceId, row, cleared }, call);
    return { email: row.email, action: isNew ? 'create' : 'update' };
  };
}

function upsertAll(
  { store, outbox, quotas, now }: Context,
  workspaceId: string,
  upserts: readonly Upsert[],
) {
  const scope = { em: store.fork(), outbox, quotas, workspaceId };
  const cleared = upserts[0]?.cleared ?? [];
  return withinQuota(scope, upserts, {
    emailOf: ({ row }) => row.email,
    write: async (within) => {
      const rows = within.map(({ row }) => row);
      const upsert = { rows, cleared, at: now(), locksChangedOnly: true };
      const created = await upsertContacts(scope, upsert);
      return within.map(({ row }) => ({ isNew: created.has(row.email) }));
    },
  });
}
