import { type ClaimGroup, giveBack } from './claims.ts';
import type { WriterContext } from './result-writer.ts';
import { untilStored } from './until-stored.ts';

/** Releases the claims of messages that were not started; repeats until the database has taken it. */
export async function giveBackUntilDone(
  { outcomes, owner, log, underway }: Omit<WriterContext, 'outbox'>,
  { workspaceId }: ClaimGroup,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await untilStored(log, 'what was not started', () => giveBack(outcomes, owner, workspaceId, ids));
  underway.release(ids);
}
