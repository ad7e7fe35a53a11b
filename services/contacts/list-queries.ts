import { LockMode } from '@mikro-orm/core';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { invalidField } from '#lib/rpc/errors.ts';
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

/** For a change: waits until nobody joins the list, and keeps others from it. */
export function lockList(em: EntityManager, key: ListKey): Promise<List> {
  return findList(em, key, LockMode.PESSIMISTIC_WRITE);
}

export type LockedList = { id: string; is_public: boolean; is_double_optin: boolean };

/** Holds lists, so that none is deleted while it is joined, and gives those that there are. */
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

/** Holds lists that have to be there. */
export async function requireLists(
  em: EntityManager,
  workspaceId: string,
  { field, ids }: { field: string; ids: readonly string[] },
): Promise<void> {
  if (ids.length === 0) return;
  const lists = await lockListsForShare(em, workspaceId, ids);
  const known = new Set(lists.map(({ id }) => id));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined) throw invalidField(field, `list not found: ${unknown.slice(0, 50)}`);
}
