import type { ServiceImpl } from '@connectrpc/connect';
import type { ContactInput, ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { requirePermission } from '#lib/rpc/access.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import { type EntityManager, query } from '#lib/store.ts';
import { type ContactRow, readContact } from '../../contact-input.ts';
import { keepNulls, upsertContacts } from '../../contact-queries.ts';
import type { Context } from '../../context.ts';
import { subscribe } from '../../membership.ts';

export function importContacts({
  store,
  now,
}: Context): ServiceImpl<typeof ContactService>['importContacts'] {
  return async ({ workspaceId, contacts, subscribeToLists }, call) => {
    const listIds = [...new Set(subscribeToLists)];
    if (listIds.length > 0) requirePermission(call, 'lists', 'write');
    const judged = contacts.map(judge);
    const rows = lastOfEach(judged);
    const at = now();
    const actions = await store.fork().transactional(async (em) => {
      await requireLists(em, workspaceId, listIds);
      const names = new Set(rows.flatMap((row) => Object.keys(row)));
      const written = await upsertContacts(em, workspaceId, { rows, names, assign: keepNulls, at });
      if (listIds.length > 0) {
        await subscribe(em, workspaceId, { emails: [...written.keys()], listIds, at });
      }
      return written;
    });
    const operations = judged.map(({ row, error }) => ({
      email: row.email,
      action: error === undefined ? (actions.get(row.email) ?? 'update') : 'error',
      error,
    }));
    return { operations };
  };
}

type Judged = { row: ContactRow; error: string | undefined };

function judge(contact: ContactInput): Judged {
  // The gateway could not read this row; what it could read is incomplete.
  if (contact.rowError) return { row: { email: contact.email }, error: contact.rowError };
  const { row, faults } = readContact(contact);
  return { row, error: faults[0]?.description };
}

/** The good rows; of those with the same address the last one. */
function lastOfEach(judged: readonly Judged[]): ContactRow[] {
  const good = judged.filter(({ error }) => error === undefined);
  return [...new Map(good.map(({ row }) => [row.email, row])).values()];
}

/** Holds the lists, so that none is deleted while it is subscribed to. */
async function requireLists(
  em: EntityManager,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const lists = await query<{ id: string }>(
    em,
    `select id from lists where workspace_id = $1 and id = any($2::text[]) and deleted_at is null
     order by id for share`,
    [workspaceId, ids],
  );
  const known = new Set(lists.map(({ id }) => id));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown === undefined) return;
  throw invalidField('subscribe_to_lists', `list not found: ${unknown.slice(0, 50)}`);
}
