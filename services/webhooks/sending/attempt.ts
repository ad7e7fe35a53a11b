import type { Keyring } from '#lib/keys/keyring.ts';
import type { Mac } from '#lib/keys/mac.ts';
import type { Log } from '#lib/log.ts';
import type { Egress } from '#lib/outside/egress.ts';
import type { Store } from '#lib/postgres/store.ts';
import { secondsSince } from '#lib/telemetry/calls.ts';
import { inSpan, type SpanOptions, traceparentIn } from '#lib/telemetry/tracing.ts';
import { type CallbackAnswer, sendCallback } from '../callback/callback.ts';
import { openSigner } from '../callback/secret.ts';
import type { ClaimedDelivery } from './claim.ts';
import { attemptSeconds } from './metrics.ts';
import type { Pool } from './pool.ts';
import type { AttemptRecorder } from './recorder.ts';

/** The context of sending, in the service as in the worker. */
export type SendingContext = {
  store: Store;
  /** The clock of the process. */
  now: () => Date;
  /**
   * In place of the database's clock, which decides what is due and until when a claim holds;
   * undefined but in tests.
   */
  databaseTime: () => Date | undefined;
  keyring: Keyring;
  log: Log;
  egress: Egress;
  recorder: AttemptRecorder;
  /** Of retries; the dispatcher has places of its own. */
  retryPlaces: Pool;
};

/** Sends a claimed delivery, and hands the result to the recorder. Never rejects. */
export async function attempt(
  context: SendingContext,
  claimed: ClaimedDelivery,
): Promise<{ isSuccess: boolean; stored: Promise<void> }> {
  const { key, id, attempt } = claimed;
  const startedAtMs = performance.now();
  const answer = await inSpan('POST webhook', spanOf(claimed), async (span) => {
    const given = await callBack(context, claimed);
    if (given.status !== null) span.set({ 'http.response.status_code': given.status });
    if (given.error !== null) span.fail();
    return given;
  });
  attemptSeconds.observe({ result: resultOf(answer) }, secondsSince(startedAtMs));
  const stored = context.recorder.add({ key, id, attempt, endedAt: context.now(), answer });
  return { isSuccess: answer.error === null, stored };
}

/** The URL is left out: it may hold a secret of the tenant. */
function spanOf({ attempt, type, traceparent }: ClaimedDelivery): SpanOptions {
  const attributes = {
    'http.request.method': 'POST',
    'http.request.resend_count': attempt - 1,
    'postrider.event.type': type,
  };
  return { kind: 'client', attributes, parent: traceparentIn(traceparent), onlyInTrace: true };
}

function resultOf({ status }: CallbackAnswer): string {
  return status === null ? 'no_answer' : `${Math.floor(status / 100)}xx`;
}

/** Sends a callback with the secret that its endpoint has. Never rejects. */
export async function callBack(
  { egress, keyring, now }: Pick<SendingContext, 'egress' | 'keyring' | 'now'>,
  {
    key,
    id,
    attempt,
    url,
    type,
    data,
    timestamp,
    sealedSecret,
  }: Omit<ClaimedDelivery, 'traceparent' | 'beginByMs'>,
): Promise<CallbackAnswer> {
  let sign: Mac;
  try {
    sign = openSigner(keyring, key, sealedSecret);
  } catch {
    return { status: null, body: null, error: 'the secret cannot be read', retryAfterMs: 0 };
  }
  const callback = {
    url,
    sign,
    workspaceId: key.workspaceId,
    id,
    type,
    data,
    timestamp,
    attempt,
  };
  return sendCallback(egress, callback, { now: now() });
}
