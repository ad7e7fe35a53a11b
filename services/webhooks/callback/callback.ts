import type { Dispatcher } from 'undici';
import type { Mac } from '#lib/keys/mac.ts';
import { signatureOf } from '#lib/keys/webhook-signature.ts';
import type { Egress } from '#lib/outside/egress.ts';
import { isOurs, reasonOf } from '#lib/outside/failure.ts';
import { retryAfterMsOf } from '#lib/outside/retry-after.ts';
import { currentTraceparent } from '#lib/telemetry/tracing.ts';
import { AnswerBody } from './answer.ts';

/** One attempt to deliver an event. */
export type Callback = {
  url: string;
  sign: Mac;
  workspaceId: string;
  /** The delivery; the same in each attempt. */
  id: string;
  type: string;
  /** A JSON text. */
  data: string;
  /** When the event happened, in RFC 3339; the same in each attempt. */
  timestamp: string;
  /** From 1. */
  attempt: number;
};

export type CallbackAnswer = {
  /** Null if there was no answer. */
  status: number | null;
  /** The first 1,024 bytes of its body, as valid text; null if there was no answer. */
  body: string | null;
  /** Null after a success. Contains no address. */
  error: string | null;
  /** As the answer asked for. */
  retryAfterMs: number;
  /** The endpoint was not reached by trouble of ours, which is none of its failures. */
  isOurs?: true;
};

const timeoutMs = 10_000;

/**
 * Sends one callback, and waits at most ten seconds for the whole answer. Never rejects: a failure
 * is an answer too.
 */
export function sendCallback(
  egress: Pick<Egress, 'dispatch'>,
  callback: Callback,
  { now, timeoutMs: waitMs = timeoutMs }: { now: Date; timeoutMs?: number },
): Promise<CallbackAnswer> {
  return new Promise((done) => {
    const exchange = new Exchange(done, waitMs);
    try {
      egress.dispatch(callback.workspaceId, requestOf(callback, now), exchange);
    } catch (error) {
      exchange.fail(error);
    }
  });
}

function requestOf(callback: Callback, now: Date): Dispatcher.DispatchOptions {
  const { origin, pathname, search } = new URL(callback.url);
  const { id, sign } = callback;
  const body = bodyOf(callback);
  const traceparent = currentTraceparent();
  const timestamp = `${Math.floor(now.getTime() / 1_000)}`;
  return {
    origin,
    path: pathname + search,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Postrider-Webhooks/1',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatureOf(sign, id, timestamp, body),
      'postrider-attempt': `${callback.attempt}`,
      ...(traceparent && { traceparent }),
    },
    body,
  };
}

/**
 * The data stay the text that they are: parsing would cost as much as all the rest, and change
 * numbers.
 */
function bodyOf({ id, type, workspaceId, timestamp, data }: Callback): string {
  const head = { id, type, workspace_id: workspaceId, timestamp };
  return `${JSON.stringify(head).slice(0, -1)},"data":${data}}`;
}

/** The answer is complete at its end, or when more of it has come than anybody reads. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #done: (answer: CallbackAnswer) => void;
  readonly #body = new AnswerBody();
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #retryAfter: unknown;
  #isOver = false;

  constructor(done: (answer: CallbackAnswer) => void, waitMs: number) {
    this.#done = done;
    this.#timer = setTimeout(() => {
      this.#fail(`no answer within ${waitMs / 1_000} s`);
      this.#controller?.abort(new Error('late'));
    }, waitMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The time may have passed while the connection was opened.
    if (this.#isOver) controller.abort(new Error('late'));
    this.#controller = controller;
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, unknown>,
  ): void {
    this.#status = status;
    this.#retryAfter = headers['retry-after'];
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#body.add(chunk)) return;
    this.#answer();
    controller.abort(new Error('long'));
  }

  onResponseEnd(): void {
    this.#answer();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  fail(error: unknown): void {
    this.#fail(reasonOf(error), isOurs(error));
  }

  #answer(): void {
    const isSuccess = this.#status >= 200 && this.#status < 300;
    this.#finish({
      status: this.#status,
      body: this.#body.text,
      error: isSuccess ? null : `HTTP ${this.#status}`,
      retryAfterMs: isSuccess ? 0 : retryAfterMsOf(this.#retryAfter, new Date()),
    });
  }

  #fail(error: string, byUs = false): void {
    const answer: CallbackAnswer = { status: null, body: null, error, retryAfterMs: 0 };
    this.#finish(byUs ? { ...answer, isOurs: true } : answer);
  }

  #finish(answer: CallbackAnswer): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#done(answer);
  }
}
