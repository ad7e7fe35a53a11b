/*
 * Branches for runs that older versions have begun: each ends with the last history that lacks its
 * patch. All came before release 0.3 and may go in 0.5, once no history in `test/histories` needs
 * them.
 */

import { patched } from '@temporalio/workflow';

/** Older runs ask the server for each look at the row. */
export const looksHere = () => patched('looks-here');

/** Older runs end only where the server suggests it. */
export const endsEarly = () => patched('short-histories');

/** Older runs had each step that sends wait for what it froze meanwhile. */
export const freezesBeside = () => patched('freezes-on');

/** Older runs begin all slices of a step, also of a step that a newer version has read. */
export const sendsInTurn = () => patched('slices-in-turn');

/** A step that sends, as older runs take it: it freezes until it has sent, and waits for both. */
export async function sendAndFreeze(
  send: () => Promise<void>,
  freeze: () => Promise<boolean>,
): Promise<void> {
  let isSending = true;
  const sending = send().finally(() => {
    isSending = false;
  });
  const freezing = (async () => {
    let hasMore = true;
    while (hasMore && isSending) hasMore = await freeze();
  })();
  const ends = await Promise.allSettled([sending, freezing]);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
