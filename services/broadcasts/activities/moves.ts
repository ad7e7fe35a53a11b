import { Code, ConnectError } from '@connectrpc/connect';
import type { EntityManager } from '#lib/postgres/store.ts';
import { forgetIfOver } from '../audience/forget.ts';
import { unrenderedReason } from '../audience/render-failures.ts';
import type { Broadcast, BroadcastKey } from '../broadcast.ts';
import { countsOf, lockBroadcast, lockIfThere } from '../broadcast-queries.ts';
import { isMoving, isUnderWay } from '../broadcast-row.ts';
import type { Context } from '../context.ts';
import { wake } from '../lifecycle/wake.ts';

/** Every move is made on the locked row, and only if it is still the row's turn, or there. */
function move(
  context: Context,
  change: (broadcast: Broadcast, em: EntityManager) => void | Promise<void>,
) {
  return (key: BroadcastKey): Promise<void> =>
    context.store.fork().transactional(async (em) => {
      const broadcast = await lockIfThere(em, key);
      if (!broadcast) return;
      await change(broadcast, em);
      await em.flush();
      await forgetIfOver(em, broadcast);
    });
}

/** The start time has come. */
export function begin(context: Context) {
  return move(context, (broadcast) => {
    const now = context.now();
    if (broadcast.status === 'scheduled' && (broadcast.starts_at ?? now) <= now)
      broadcast.begin(now);
  });
}

/** Every slice is done: `sent` means recipients = sent + failed + skipped. */
export function finish(context: Context) {
  return move(context, async (broadcast, em) => {
    if (!isMoving(broadcast.status)) return;
    const counts = (await countsOf(em, broadcast.workspace_id, [broadcast.id]))(broadcast.id);
    const answered = counts.sent + counts.failed + counts.skipped;
    if (answered !== broadcast.enqueued_count) {
      throw new Error(`${answered} of ${broadcast.enqueued_count} recipients have an outcome`);
    }
    broadcast.complete(context.now());
  });
}

/** Everybody in the sample was tried. */
export function completeTest(context: Context) {
  return move(context, (broadcast) => {
    if (broadcast.status === 'testing') broadcast.completeTest(context.now());
  });
}

export function resumeAfterOutage(context: Context) {
  return move(context, (broadcast) => broadcast.resumeAfterOutage(context.now()));
}

/**
 * Pauses with a reason: an outage is tried again by itself, at its end where that is known; a fault waits for a
 * person.
 */
export function pauseBySystem(context: Context) {
  return (
    key: BroadcastKey,
    reason: string,
    cause: 'outage' | 'fault',
    endsAtMs?: number,
  ): Promise<void> =>
    move(context, (broadcast) => {
      if (!isUnderWay(broadcast.status)) return;
      const endsAt = endsAtMs === undefined ? undefined : new Date(endsAtMs);
      broadcast.pauseBySystem(context.now(), { reason: reason.slice(0, 255), cause, endsAt });
    })(key);
}

/** Too much can't be rendered: a person decides whether the rest is sent all the same. */
export function pauseForUnrendered(context: Context) {
  return (key: BroadcastKey): Promise<void> =>
    move(context, async (broadcast, em) => {
      if (!isMoving(broadcast.status) || broadcast.bears_unrendered) return;
      const reason = await unrenderedReason(em, key);
      if (reason) broadcast.pauseForUnrendered(context.now(), reason);
    })(key);
}

/** For a broadcast that could not even be frozen, such as one whose template is gone. */
export function failBroadcast(context: Context) {
  return (key: BroadcastKey, reason: string): Promise<void> =>
    move(context, (broadcast) => {
      if (!isUnderWay(broadcast.status)) return;
      broadcast.fail(context.now(), reason.slice(0, 255));
    })(key);
}

export type OperatorMove = 'pause' | 'resume' | 'cancel';

/** What an operator asks for in the Temporal UI is the API's own operation. Answers the new status. */
function operation(context: Context, key: BroadcastKey, deed: (broadcast: Broadcast) => void) {
  return context.store.fork().transactional(async (em) => {
    const broadcast = await lockBroadcast(em, key);
    deed(broadcast);
    await em.flush();
    await wake(em, broadcast);
    await forgetIfOver(em, broadcast);
    return broadcast.status;
  });
}

export function operate(context: Context) {
  return (key: BroadcastKey, deed: OperatorMove): Promise<string> =>
    operation(context, key, (broadcast) => broadcast[deed](context.now()));
}

export function chooseWinner(context: Context) {
  return (key: BroadcastKey, templateId: string): Promise<string> =>
    operation(context, key, (broadcast) =>
      broadcast.selectWinner(context.now(), templateId, 'person'),
    );
}

/** As `operate`, for a workflow that was cancelled: what is over stays as it is. */
export function cancelIfLive(context: Context) {
  const cancel = operate(context);
  return async (key: BroadcastKey): Promise<void> => {
    try {
      await cancel(key, 'cancel');
    } catch (error) {
      const { code } = ConnectError.from(error);
      if (code !== Code.FailedPrecondition && code !== Code.NotFound) throw error;
    }
  };
}
