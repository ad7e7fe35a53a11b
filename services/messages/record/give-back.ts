import type { Log } from '#lib/log.ts';
import type { Store } from '#lib/postgres/store.ts';
import { untilStored } from '#lib/postgres/until-stored.ts';
import { giveBack } from './claims.ts';

export type GiveBackContext = {
  outcomes: Store;
  owner: string;
  log: Log;
  underway: { release(ids: Iterable<string>): void };
};

/**
 * Releases the claims of messages that were not started; repeats until the database has taken it.
 */
export async function giveBackUntilDone(
  { outcomes, owner, log, underway }: GiveBackContext,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await untilStored(log, 'the end of claims', () => giveBack(outcomes, owner, workspaceId, ids));
  underway.release(ids);
}

/** The same beside the caller, for claims that it can do nothing about. */
export function giveBackInBackground(
  context: GiveBackContext,
  workspaceId: string,
  ids: readonly string[],
): void {
  giveBackUntilDone(context, workspaceId, ids).catch((err: unknown) =>
    context.log.error({ err }, 'claimed messages could not be given back'),
  );
}
