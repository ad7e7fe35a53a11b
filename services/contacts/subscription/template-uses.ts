import { Code, ConnectError } from '@connectrpc/connect';
import {
  beginTemplateUses,
  type TemplateUseClient,
  type TemplateUser,
  type TemplateUses,
} from '#lib/jobs/template-uses.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { List } from '../list.ts';
import { noSuchTemplate } from './opt-in-template.ts';

type ListKey = { workspaceId: string; id: string };

export function listUser({ workspaceId, id }: ListKey): TemplateUser {
  return { kind: 'list', workspaceId, id };
}

/**
 * The template that a list uses, as it is in the database; undefined for a list that is deleted.
 */
export async function listUses(
  em: EntityManager,
  { workspaceId, id }: ListKey,
): Promise<TemplateUses | undefined> {
  const list = await em.findOne(List, { workspace_id: workspaceId, id, deleted_at: null });
  return list ? usesOf(list) : undefined;
}

export const listsWithTemplate =
  'select workspace_id, id from lists where double_optin_template is not null and deleted_at is null';

/** In the transaction of a list with a template. `before` is the template that it had. */
export async function beginListUse(
  em: EntityManager,
  context: { store: Store; templateUses: TemplateUseClient },
  list: List,
  before?: string,
): Promise<void> {
  const user = listUser({ workspaceId: list.workspace_id, id: list.id });
  try {
    await beginTemplateUses(em, context, user, {
      ...usesOf(list),
      before: before === undefined ? [] : [before],
    });
  } catch (error) {
    // Deleted since it was checked.
    if (ConnectError.from(error).code === Code.NotFound) throw noSuchTemplate();
    throw error;
  }
}

function usesOf({ name, double_optin_template: template }: List): TemplateUses {
  return { name, templateIds: template ? [template.id] : [] };
}
