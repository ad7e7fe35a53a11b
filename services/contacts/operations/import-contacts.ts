import type { ContactInput } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { mapInTurns } from '#lib/limits/turns.ts';
import { query } from '#lib/postgres/query.ts';
import { requirePermission } from '#lib/rpc/server/access.ts';
import { joinLists } from '../consent/membership-queries.ts';
import { type ContactRow, readContact } from '../contact/input.ts';
import { upsertContacts } from '../contact/queries.ts';
import { beyondQuota, findBeyondQuota } from '../contact/room.ts';
import type { Context, Methods } from '../context.ts';
import { requireLists } from '../list-queries.ts';

export function importContacts(context: Context): Methods['importContacts'] {
  const { store, outbox, quotas, now } = context;
  return async ({ workspaceId, contacts, subscribeToLists }, call) => {
    const listIds = [...new Set(subscribeToLists)];
    if (listIds.length > 0) requirePermission(call, 'lists', 'write');
    const checked = await mapInTurns(contacts, checkContact);
    const all = mergeRows(checked);
    const beyond = await findBeyondQuota(
      { em: store.fork(), workspaceId, quotas },
      all.map(({ email }) => email),
    );
    const rows = all.filter(({ email }) => !beyond.has(email));
    const at = now();
    const created = await store.fork().transactional(async (em) => {
      const scope = { em, outbox, quotas, workspaceId };
      // Sorts and groups in memory, which takes a tenth of the time.
      await query(em, `select set_config('work_mem', '64MB', true)`, []);
      await requireLists(em, workspaceId, { field: 'subscribe_to_lists', ids: listIds });
      const fresh = await upsertContacts(scope, { rows, at });
      const emails = rows.map(({ email }) => email);
      await joinLists(scope, { join: 'import', emails, listIds, at });
      return fresh;
    });
    const error =
      beyond.size > 0 ? (await beyondQuota({ workspaceId, quotas })).rawMessage : undefined;
    const outcomes = checked.map((each) =>
      each.error === undefined && beyond.has(each.row.email) ? { ...each, error } : each,
    );
    return { operations: outcomes.map((each) => operationOf(each, created)) };
  };
}

/**
 * The outcome of a row. The first row of a new address creates the contact; later ones of the
 * request change it.
 */
function operationOf({ row: { email }, error }: CheckedContact, created: Set<string>) {
  if (error !== undefined) return { email, action: 'error', error };
  return { email, action: created.delete(email) ? 'create' : 'update' };
}

type CheckedContact = { row: ContactRow; error: string | undefined };

function checkContact(contact: ContactInput): CheckedContact {
  // The gateway could not read this row; what it could read is incomplete.
  if (contact.rowError)
    return { row: { email: contact.email, values: [] }, error: contact.rowError };
  const { row, faults } = readContact(contact);
  return { row, error: faults[0]?.description };
}

/**
 * The good rows, one for each address, as if they were written one after the other: the last value
 * of a field counts.
 */
function mergeRows(checked: readonly CheckedContact[]): ContactRow[] {
  const merged = new Map<string, ContactRow>();
  for (const { row, error } of checked) {
    if (error !== undefined) continue;
    const earlier = merged.get(row.email);
    merged.set(row.email, earlier ? mergeRow(earlier, row) : row);
  }
  return [...merged.values()];
}

function mergeRow(earlier: ContactRow, { email, values }: ContactRow): ContactRow {
  return { email, values: earlier.values.map((value, place) => values[place] ?? value) };
}
