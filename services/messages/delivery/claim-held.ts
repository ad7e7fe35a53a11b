import type { Grant } from '../admission/admit.ts';
import { type GiveBackContext, giveBackInBackground } from '../record/give-back.ts';
import type { Underway } from './underway.ts';

export type HoldContext = GiveBackContext & { underway: Underway };

/** Messages that this process holds while their claim is being written. */
export type HeldClaim<Message> = {
  /** Messages that nothing in this process held before; no more than were granted. */
  held: readonly Message[];
  /** The record has these as ours. The others are let go, and permits that are over put back. */
  keep(ids: ReadonlySet<string>): Promise<void>;
  /** The write failed, and may have been committed all the same. */
  abandon(): void;
};

/** Holds messages before their claim is written, so that no other call here claims them. */
export function holdForClaim<Message extends { id: string }>(
  context: HoldContext,
  grant: Grant,
  messages: readonly Message[],
): HeldClaim<Message> {
  const held = context.underway.hold(grant, messages.slice(0, grant.count));
  return {
    held,
    async keep(ids) {
      context.underway.release(held.flatMap(({ id }) => (ids.has(id) ? [] : [id])));
      grant.leave();
      await grant.giveBack(grant.count - ids.size);
    },
    abandon() {
      grant.leave();
      void grant.giveBack(grant.count);
      const ids = held.map(({ id }) => id);
      giveBackInBackground(context, grant.lane.workspaceId, ids);
    },
  };
}
