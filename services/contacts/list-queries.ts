import { LockMode } from '@mikro-orm/core';
import { invalidField } from '#lib/errors/errors.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { List, listNotFound } from './list.ts';

type ListKey = { workspaceId: string; id: string };

export function findList(
  em: EntityManager,
  { workspaceId, id }: ListKey,
  lockMode?: LockMode,
): Promise<List> {
  return em.findOneOrFail(
    List,
    { workspace_id: workspaceId, id, deleted_at: null },
    { failHandler: listNotFound, lockMode },
  );
}

/** Locks a list for a change: waits for transactions that join it, and makes later ones wait. */
export function lockList(em: EntityManager, key: ListKey): Promise<List> {
  return findList(em, key, LockMode.PESSIMISTIC_WRITE);
}

export type LockedList = { id: string; is_public: boolean; is_double_optin: boolean };

/** Locks lists, so that none is deleted while contacts join it, and returns those that exist. */
export function lockListsForShare(
  em: EntityManager,
  workspaceId: string,
  ids: readonly string[],
): Promise<LockedList[]> {
  return query(
    em,
    `select id, is_public, is_double_optin from lists
     where workspace_id = $1 and id = any($2::text[]) and deleted_at is null
     order by id for share`,
    [workspaceId, ids],
  );
}

/**
 * Locks lists that have to exist, and others that need not, in one order. Returns the ids of those
 * that exist.
 */
export async function requireLists(
  em: EntityManager,
  workspaceId: string,
  {
    field,
    ids,
    others = [],
  }: { field: string; ids: readonly string[]; others?: readonly string[] },
): Promise<ReadonlySet<string>> {
  const all = [...ids, ...others];
  const lists = all.length > 0 ? await lockListsForShare(em, workspaceId, all) : [];
  const known = new Set(lists.map(({ id }) => id));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined) throw invalidField(field, `list not found: ${unknown.slice(0, 50)}`);
  return known;
}

/** Lists by the words that name them: an id, or a name that no other list has, in any case. */
export async function listsByWord(
  em: EntityManager,
  workspaceId: string,
): Promise<(word: string) => string | undefined> {
  const rows = await query<{ id: string; name: string }>(
    em,
    'select id, name from lists where workspace_id = $1 and deleted_at is null',
    [workspaceId],
  );
  const ids = new Set(rows.map(({ id }) => id));
  const byName = Map.groupBy(rows, ({ name }) => nameKey(name));
  return (word) => {
    if (ids.has(word)) return word;
    const [list, other] = byName.get(nameKey(word)) ?? [];
    return other ? undefined : list?.id;
  };
}

const nameKey = (name: string) => name.trim().toLowerCase();

/** The lists that don't exist, or are being deleted, in the order given. */
export async function missingLists(
  em: EntityManager,
  workspaceId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await query<{ id: string }>(
    em,
    `select id from lists
     where workspace_id = $1 and id = any($2::text[]) and deleted_at is null`,
    [workspaceId, ids],
  );
  const known = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !known.has(id));
}
