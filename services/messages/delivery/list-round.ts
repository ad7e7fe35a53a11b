/*
 * A round of mails to members of a list: its confirmations or its welcomes, some at a time.
 */

import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { failDue, type ListKey } from '../record/confirmations.ts';
import {
  type AddressedId,
  type ResolveContext,
  type ResolveGiven,
  resolve,
} from './ask-consent.ts';
import type { BatchResult } from './send-all.ts';

/** Mails of a round. */
export const roundMax = 200;
const outageWaitMs = 60_000;
/** The skip reason of addresses that contacts no longer has. */
export const removed = 'removed';

/** When the rest may be tried, in Unix milliseconds; undefined if at once. */
export function restAt({ outage, retryAfterMs }: BatchResult): number | undefined {
  if (outage) return outage.endsAt?.getTime() ?? Date.now() + outageWaitMs;
  return retryAfterMs > 0 ? Date.now() + retryAfterMs : undefined;
}

export type FailedRound = {
  open: readonly AddressedId[];
  who: ResolveGiven['who'];
  info: string;
  /** Leaves nothing of contacts that are no longer there. */
  forget: (em: EntityManager, key: ListKey, emails: readonly string[]) => Promise<void>;
};

/**
 * Fails the mails of a round; gives the ids of those that no other process has sent. Of contacts
 * that are no longer there nothing may be left: their deletion may have come before the mail was
 * asked for.
 */
export async function failRound(
  context: ResolveContext & { store: Store },
  key: ListKey,
  { open, who, info, forget }: FailedRound,
): Promise<Set<string>> {
  const { workspaceId, listId } = key;
  const given = { group: { workspaceId, listId }, who, fields: [] };
  const { claimants } = await resolve(context, given, open);
  const gone = claimants.filter(({ skipReason }) => skipReason === removed);
  const emails = gone.map(({ email }) => email);
  const ids = open.map(([id]) => id);
  return context.store.fork().transactional(async (em) => {
    const failed = await failDue(em, workspaceId, { ids, info, removed: emails });
    await forget(em, key, emails);
    return failed;
  });
}
