import { type ContactInput, MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { EventScope } from '#lib/events/outbox.ts';
import { mapInTurns } from '#lib/limits/turns.ts';
import { query } from '#lib/postgres/query.ts';
import { requirePermission } from '#lib/rpc/server/access.ts';
import {
  type ImportStatus,
  importJoins,
  importStatuses,
  statusMessage,
} from '../consent/membership.ts';
import { joinEach, joinLists } from '../consent/membership-queries.ts';
import { type ContactRow, readContact } from '../contact/input.ts';
import { upsertContacts } from '../contact/queries.ts';
import { beyondQuota, findBeyondQuota } from '../contact/room.ts';
import type { Context, Methods } from '../context.ts';
import { listsByWord, requireLists } from '../list-queries.ts';

/** Lists that a row may name. */
const ownListsMax = 20;
const unknownMax = 100;
const unknownLengthMax = 100;

export function importContacts(context: Context): Methods['importContacts'] {
  const { store, outbox, quotas, now } = context;
  return async ({ workspaceId, contacts, subscribeToLists, status }, call) => {
    const listIds = [...new Set(subscribeToLists)];
    const statusOfAll = requireImportStatus(status);
    const words = new Set(contacts.flatMap(({ lists }) => lists));
    if (listIds.length + words.size > 0) requirePermission(call, 'lists', 'write');
    const listOf = words.size > 0 ? await listsByWord(store.fork(), workspaceId) : () => undefined;
    const checked = await mapInTurns(contacts, (contact) =>
      checkContact(contact, { listIds, listOf, statusOfAll }),
    );
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
      const own = new Set(checked.flatMap(({ ownLists }) => ownLists));
      const held = await requireLists(em, workspaceId, {
        ...{ field: 'subscribe_to_lists', ids: listIds },
        others: [...own],
      });
      const fresh = await upsertContacts(scope, { rows, at });
      const written = new Set(rows.map(({ email }) => email));
      const joining = checked.filter(({ row, error }) => !error && written.has(row.email));
      await join(scope, joining, { listIds, held, at });
      return fresh;
    });
    const error =
      beyond.size > 0 ? (await beyondQuota({ workspaceId, quotas })).rawMessage : undefined;
    const outcomes = checked.map((each) =>
      each.error === undefined && beyond.has(each.row.email) ? { ...each, error } : each,
    );
    const names = [...words]
      .filter((word) => !listOf(word))
      .slice(0, unknownMax)
      .map((word) => word.slice(0, unknownLengthMax));
    return {
      operations: outcomes.map((each) => operationOf(each, created)),
      ...(names.length > 0 ? { unknownLists: { names } } : {}),
    };
  };
}

/** Adds the contacts to the lists of the request and to their own, by the status of each. */
async function join(
  scope: EventScope,
  checked: readonly CheckedContact[],
  { listIds, held, at }: { listIds: readonly string[]; held: ReadonlySet<string>; at: Date },
): Promise<void> {
  for (const status of importStatuses) {
    const join = importJoins[status];
    const some = checked.filter((each) => each.status === status);
    const emails = [...new Set(some.map(({ row }) => row.email))];
    if (emails.length > 0) await joinLists(scope, { join, emails, listIds, at });
    await joinEach(scope, { join, targets: ownTargets(some, held), at });
  }
}

function ownTargets(checked: readonly CheckedContact[], held: ReadonlySet<string>) {
  const targets = checked.flatMap(({ row: { email }, ownLists }) =>
    ownLists
      .filter((listId) => held.has(listId))
      .map((listId) => [`${listId} ${email}`, { listId, email }] as const),
  );
  return [...new Map(targets).values()];
}

/**
 * The outcome of a row. The first row of a new address creates the contact; later ones of the
 * request change it.
 */
function operationOf({ row: { email }, error }: CheckedContact, created: Set<string>) {
  if (error !== undefined) return { email, action: 'error', error };
  return { email, action: created.delete(email) ? 'create' : 'update' };
}

type CheckedContact = {
  row: ContactRow;
  error: string | undefined;
  status: ImportStatus;
  /** Ids of the lists that the row names. */
  ownLists: readonly string[];
};

type Joining = {
  listIds: readonly string[];
  listOf: (word: string) => string | undefined;
  statusOfAll: ImportStatus;
};

function checkContact(contact: ContactInput, joining: Joining): CheckedContact {
  const { statusOfAll, listIds, listOf } = joining;
  const failed = (row: ContactRow, error: string | undefined) => ({
    row,
    error,
    status: statusOfAll,
    ownLists: [],
  });
  // The gateway could not read this row; what it could read is incomplete.
  if (contact.rowError) return failed({ email: contact.email, values: [] }, contact.rowError);
  const { row, faults } = readContact(contact);
  const own = importStatusOf(contact.status);
  // The graver one: an account that is active may have left the list that the file is of.
  const status = importStatuses.find((each) => each === own || each === statusOfAll) ?? statusOfAll;
  const ownLists = contact.lists.flatMap((word) => listOf(word) ?? []);
  const error =
    faults[0]?.description ?? joinFault(contact, { status, lists: [...listIds, ...ownLists] });
  return error === undefined ? { row, error, status, ownLists } : failed(row, error);
}

/** Why a row can't join lists with its status. */
function joinFault(
  { lists: words, status: given }: ContactInput,
  { status, lists }: { status: ImportStatus; lists: readonly string[] },
): string | undefined {
  if (words.length > ownListsMax) return `lists must hold at most ${ownListsMax} items`;
  if (given !== MembershipStatus.UNSPECIFIED && !importStatusOf(given))
    return `status ${oneOfStatuses}`;
  if (status !== 'active' && lists.length === 0) {
    return `status is ${status}, and no list is given to keep it`;
  }
  return undefined;
}

const oneOfStatuses = 'must be one of active, unsubscribed, bounced, complained';

const statusByMessage = new Map(importStatuses.map((status) => [statusMessage(status), status]));

/** Undefined where none is given, or one that an import does not set. */
const importStatusOf = (given: MembershipStatus): ImportStatus | undefined =>
  statusByMessage.get(given);

function requireImportStatus(given: ContactInput['status']): ImportStatus {
  const status = given === MembershipStatus.UNSPECIFIED ? 'active' : importStatusOf(given);
  if (!status) throw invalidField('status', `status ${oneOfStatuses}`);
  return status;
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
