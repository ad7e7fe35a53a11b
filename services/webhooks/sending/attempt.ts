import type { Keyring } from '#lib/keys/keyring.ts';
import type { Log } from '#lib/log.ts';
import type { Egress } from '#lib/outside/egress.ts';
import type { Store } from '#lib/postgres/store.ts';
import { type Answer, sendCallback } from '../endpoint/callback.ts';
import { keyOf } from '../endpoint/signature.ts';
import type { Claimed } from './claim.ts';
import type { Recorder } from './recorder.ts';

/** What sending needs, in the service as in the worker. */
export type SendingContext = {
  store: Store;
  now: () => Date;
  keyring: Keyring;
  log: Log;
  egress: Egress;
  recorder: Recorder;
};

/** Sends a claimed delivery, and hands the result to the recorder. */
export async function attempt(
  { egress, keyring, now, recorder }: SendingContext,
  claimed: Claimed,
): Promise<{ isSuccess: boolean; stored: Promise<void> }> {
  const { key, id, attempt, url, type, data } = claimed;
  const secret = keyOf(keyring.decrypt(claimed.sealedSecret));
  const callback = { url, key: secret, workspaceId: key.workspaceId, id, type, data, attempt };
  const answer: Answer = await sendCallback(egress, callback, { now: now() });
  const stored = recorder.add({ key, id, attempt, endedAt: now(), answer });
  return { isSuccess: answer.error === null, stored };
}
