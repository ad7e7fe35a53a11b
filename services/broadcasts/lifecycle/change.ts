import type { HandlerContext } from '@connectrpc/connect';
import { endTemplateUses } from '#lib/jobs/template-uses.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { forgetIfOver } from '../audience/forget.ts';
import type { Broadcast, BroadcastKey } from '../broadcast/broadcast.ts';
import { lockBroadcast, lockIfThere } from '../broadcast/queries.ts';
import { isOver } from '../broadcast/row.ts';
import { broadcastUser } from '../variations/template-uses.ts';
import { wake } from './wake.ts';

type Rule<Result> = (broadcast: Broadcast, em: EntityManager) => Result | Promise<Result>;

/**
 * Changes the locked row by a rule and wakes its run; a draft has none. NOT_FOUND if the broadcast
 * does not exist. `call` is recorded with the change.
 */
export function changeBroadcast<Result>(
  store: Store,
  key: BroadcastKey,
  rule: Rule<Result>,
  call?: Pick<HandlerContext, 'values'>,
): Promise<Result> {
  return store.fork().transactional(async (em) => {
    const broadcast = await lockBroadcast(em, key);
    const result = await apply(em, broadcast, rule);
    if (broadcast.status !== 'draft') await wake(em, broadcast);
    if (call) await recordChange(em, call);
    return result;
  });
}

/**
 * A step of the broadcast's own run, which reads the row afterwards anyway. Does nothing if the row
 * is gone.
 */
export function takeStep<Result>(
  store: Store,
  key: BroadcastKey,
  rule: Rule<Result>,
): Promise<Result | undefined> {
  return store.fork().transactional(async (em) => {
    const broadcast = await lockIfThere(em, key);
    return broadcast ? apply(em, broadcast, rule) : undefined;
  });
}

async function apply<Result>(
  em: EntityManager,
  broadcast: Broadcast,
  rule: Rule<Result>,
): Promise<Result> {
  const wasOver = isOver(broadcast.status);
  const result = await rule(broadcast, em);
  await em.flush();
  if (!wasOver && isOver(broadcast.status)) {
    const { workspace_id: workspaceId, id } = broadcast;
    await endTemplateUses(em, 'broadcasts', broadcastUser({ workspaceId, id }));
  }
  await forgetIfOver(em, broadcast);
  return result;
}
