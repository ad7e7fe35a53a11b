import { Code, ConnectError } from '@connectrpc/connect';
import { invalidField } from '#lib/errors/errors.ts';
import {
  beginTemplateUses,
  releaseTemplates,
  type TemplateUser,
  type TemplateUses,
} from '#lib/jobs/template-uses.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import type { Broadcast, BroadcastKey } from '../broadcast/broadcast.ts';
import { findIfThere } from '../broadcast/queries.ts';
import { isOver } from '../broadcast/row.ts';
import type { Peers } from '../peers.ts';

export function broadcastUser({ workspaceId, id }: BroadcastKey): TemplateUser {
  return { kind: 'broadcast', workspaceId, id };
}

/**
 * The templates that a broadcast uses, as it is in the database: none before it is scheduled, and
 * after it is over.
 */
export async function broadcastUses(
  em: EntityManager,
  key: BroadcastKey,
): Promise<TemplateUses | undefined> {
  const broadcast = await findIfThere(em, key);
  return broadcast && isLive(broadcast) ? usesOf(broadcast) : undefined;
}

export const liveBroadcasts =
  "select workspace_id, id from broadcasts where status not in ('draft', 'sent', 'cancelled', 'failed')";

/**
 * In the transaction in which a broadcast becomes live, or changes while it is. `before` are its
 * templates until then.
 */
export async function beginBroadcastUses(
  em: EntityManager,
  context: { store: Store } & Pick<Peers, 'templateUses'>,
  broadcast: Broadcast,
  before: readonly string[] = [],
): Promise<void> {
  const user = broadcastUser({ workspaceId: broadcast.workspace_id, id: broadcast.id });
  try {
    await beginTemplateUses(em, context, user, { ...usesOf(broadcast), before });
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    // Deleted since it was checked.
    if (code === Code.NotFound) throw invalidField('test_settings.variations', rawMessage);
    throw error;
  }
}

/** After a transaction in which a broadcast has ended, or no longer uses some template. */
export function releaseBroadcastUses(
  context: { store: Store } & Pick<Peers, 'templateUses'>,
  key: BroadcastKey,
): Promise<void> {
  return releaseTemplates({ ...context, usesOf: broadcastUses }, broadcastUser(key));
}

export function templateIdsOf({ test_settings }: Pick<Broadcast, 'test_settings'>): string[] {
  return [...new Set(test_settings.variations.map(({ template_id }) => template_id))];
}

/** The states in which a broadcast's templates are still needed. */
export function isLive({ status }: Pick<Broadcast, 'status'>): boolean {
  return status !== 'draft' && !isOver(status);
}

function usesOf(broadcast: Broadcast): TemplateUses {
  return { name: broadcast.name, templateIds: templateIdsOf(broadcast) };
}
