/*
 * `postrider listen`: events of a workspace reach a local server, signed as webhooks are. Nothing
 * calls in: a listener's events wait at the gateway until they are taken.
 *
 * Order: the listener is made; what happened since a given time is sent again; then each event is
 * sent, and named as taken by the next poll. An event that the local server was not there to take
 * stays the first one.
 *
 * Limits: a poll a second while nothing waits, and one in 15 s while events are sent, so that the
 * listener stays; the queue holds one answer, and a page of what is sent again. A listener that has
 * ended meanwhile is replaced by another one.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import {
  ApiError,
  ConnectionError,
  RateLimitError,
  ServerError,
} from '../../typescript/src/errors.ts';
import type { WebhookListener } from '../../typescript/src/made/types.ts';
import { WebhookListeners } from '../../typescript/src/made/webhookListeners.ts';
import { WebhookSubscriptions } from '../../typescript/src/made/webhookSubscriptions.ts';
import { MissingError, textOf, UsageError } from '../failures.ts';
import { untilInterrupted } from '../interrupt.ts';
import { type CommonOptions, callerOf, type Invocation } from '../invocation.ts';
import { say, write } from '../terminal.ts';
import { eventOfDelivery, eventsOf } from './event.ts';
import { type History, historyMax, openHistory, sinceOf } from './history.ts';
import {
  forward,
  type LocalAnswer,
  type LocalEvent,
  type LocalServer,
  ServerDownError,
} from './local-server.ts';
import { listenQueue } from './queue.ts';
import { listenSecret } from './secret.ts';

type ListenOptions = CommonOptions & {
  forwardTo: string;
  events?: string[];
  since?: string;
  replay?: string;
};

const pollMs = 1_000;
const renewMs = 15_000;
const downMs = 1_000;
const awayMinMs = 1_000;
const awayMaxMs = 10_000;
const retryAfterMaxSeconds = 60;
const endTimeoutMs = 5_000;
const typeWidth = 24;
const endedReason = 'WEBHOOK_LISTENER_NOT_FOUND';

/** Sends events to a local server until it is interrupted; of `--replay`, whether it took it. */
export async function listen(invocation: Invocation, options: ListenOptions): Promise<boolean> {
  const { http, profile } = callerOf(invocation, options);
  const { workspaceId } = profile;
  if (workspaceId === undefined) throw new UsageError('no workspace: name one by --workspace');
  const url = urlOf(options.forwardTo);
  const since = options.since === undefined ? undefined : sinceOf(options.since);
  const server = { url, secret: listenSecret(invocation.env), workspaceId };
  const subscriptions = new WebhookSubscriptions(http);
  const isForPeople = invocation.terminal.stdout.isTTY && !options.json;
  if (options.replay !== undefined) {
    return replay(invocation, { server, subscriptions, id: options.replay, isForPeople });
  }
  const { signal, release } = untilInterrupted();
  try {
    const types = (options.events ?? []).flatMap((each) => each.split(',')).filter(Boolean);
    const listeners = new WebhookListeners(http);
    const given = { invocation, server, listeners, subscriptions, types, since, signal };
    await run({ ...given, isForPeople });
    return true;
  } catch (error) {
    if (signal.aborted) return true;
    throw error;
  } finally {
    release();
  }
}

type Given = {
  invocation: Invocation;
  server: LocalServer;
  listeners: WebhookListeners;
  subscriptions: WebhookSubscriptions;
  types: string[];
  since: Date | undefined;
  isForPeople: boolean;
  signal: AbortSignal;
};

async function run(given: Given): Promise<void> {
  const { server, signal } = given;
  const tell = (text: string) => say(given.invocation.terminal, text);
  const session = new Session(given, tell, await create(given));
  tell(`${server.workspaceId}: ${session.typesText} go to ${server.url}, signed by`);
  tell(`${server.secret}\nThe secret stays the same. Ctrl-C ends this.`);
  try {
    while (!signal.aborted) await session.step();
  } finally {
    await session.end();
  }
}

async function create({ listeners, types, signal }: Given): Promise<WebhookListener> {
  return (await listeners.create({ event_types: types }, { signal })).listener;
}

class Session {
  readonly #given: Given;
  readonly #tell: (text: string) => void;
  readonly #queue = listenQueue();
  #history: History | undefined;
  #listener: WebhookListener;
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  /** Of the first event. */
  #attempt = 1;
  #isServerDown = false;
  /** The next wait for a gateway that does not answer; 0 while it does. */
  #awayMs = 0;
  #dropped = 0;

  constructor(given: Given, tell: (text: string) => void, listener: WebhookListener) {
    this.#given = given;
    this.#tell = tell;
    this.#listener = listener;
    const { since, subscriptions } = given;
    if (!since) return;
    const period = { since, until: listener.created_at, types: new Set(listener.event_types) };
    this.#history = openHistory(subscriptions, period, (total) =>
      tell(`Of ${total} deliveries since then, the newest ${historyMax} are sent again.`),
    );
  }

  get typesText(): string {
    const types = this.#listener.event_types;
    return types.length > 3 ? `events of ${types.length} types` : types.join(', ');
  }

  /** Sends one event, or looks for more. */
  async step(): Promise<void> {
    if (this.#history && !this.#queue.first() && !(await this.#readHistory(this.#history))) return;
    const isDue = performance.now() - this.#renewedAtMs >= renewMs;
    if ((isDue || !this.#queue.first()) && !(await this.#renew())) return;
    const event = this.#queue.first();
    if (event) await this.#send(event);
    else await this.#rest(pollMs);
  }

  /** False if the gateway does not answer now. */
  async #readHistory(history: History): Promise<boolean> {
    try {
      const events = await history.next();
      if (events) this.#queue.add(events);
      else this.#history = undefined;
      return true;
    } catch (error) {
      await this.#waitForGateway(error);
      return false;
    }
  }

  /** False if the gateway does not answer now. */
  async #renew(): Promise<boolean> {
    const { listeners, signal } = this.#given;
    const request = { id: this.#listener.id, taken_ids: [...this.#queue.taken] };
    try {
      const { events, dropped } = await listeners.take(request, { signal, retries: 0 });
      this.#queue.renew(eventsOf(events));
      if (dropped > this.#dropped) {
        this.#tell(`${dropped - this.#dropped} events were lost: too many waited.`);
      }
      this.#dropped = dropped;
    } catch (error) {
      if (error instanceof ApiError && error.reason === endedReason) await this.#replace();
      else await this.#waitForGateway(error);
      return false;
    }
    this.#renewedAtMs = performance.now();
    if (this.#awayMs > 0) this.#tell('The gateway answers again.');
    this.#awayMs = 0;
    return true;
  }

  async #replace(): Promise<void> {
    this.#queue.forgetListener();
    try {
      this.#listener = await create(this.#given);
    } catch (error) {
      return this.#waitForGateway(error);
    }
    this.#dropped = 0;
    this.#tell('The listener had ended, so events of the last minutes may be missing.');
  }

  async #waitForGateway(error: unknown): Promise<void> {
    if (!isTemporary(error)) throw error;
    if (this.#awayMs === 0)
      this.#tell(`The gateway does not answer (${textOf(error)}); trying again.`);
    this.#awayMs = Math.min(Math.max(2 * this.#awayMs, awayMinMs), awayMaxMs);
    const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0;
    await this.#rest(Math.max(this.#awayMs, Math.min(asked, retryAfterMaxSeconds) * 1_000));
  }

  async #send(event: LocalEvent): Promise<void> {
    const { invocation, server, isForPeople, signal } = this.#given;
    let answer: LocalAnswer;
    try {
      answer = await forward(server, event, { attempt: this.#attempt, signal });
    } catch (error) {
      if (!(error instanceof ServerDownError)) throw error;
      if (error.wasCalled) this.#attempt += 1;
      if (!this.#isServerDown) {
        this.#tell(`${server.url} takes no events (${error.message}); trying again.`);
      }
      this.#isServerDown = true;
      return this.#rest(downMs);
    }
    this.#isServerDown = false;
    this.#attempt = 1;
    this.#queue.shift();
    await write(invocation.terminal, lineOf(isForPeople, event, answer));
  }

  async #rest(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#given.signal }).catch(() => {});
  }

  /** Names the events that were sent, and ends the listener. */
  async end(): Promise<void> {
    const { listeners } = this.#given;
    const { id } = this.#listener;
    const options = { timeoutMs: endTimeoutMs, retries: 0 };
    try {
      const taken_ids = [...this.#queue.taken];
      if (taken_ids.length > 0) await listeners.take({ id, taken_ids }, options);
      await listeners.end({ id }, options);
    } catch {
      this.#tell(
        'The gateway did not hear of the end; the listener ends by itself in five minutes.',
      );
    }
  }
}

/** Whether a gateway that is restarted, or has much to do, answers so. */
function isTemporary(error: unknown): boolean {
  return [ConnectionError, ServerError, RateLimitError].some((kind) => error instanceof kind);
}

type Replay = {
  server: LocalServer;
  subscriptions: WebhookSubscriptions;
  id: string;
  isForPeople: boolean;
};

/** Sends one delivery again; whether the server took it. */
async function replay(
  invocation: Invocation,
  { server, subscriptions, id, isForPeople }: Replay,
): Promise<boolean> {
  const { deliveries } = await subscriptions.deliveries({ id });
  const [delivery] = deliveries;
  if (!delivery) throw new MissingError(`there is no delivery ${id}, or it is kept no more`);
  const event = eventOfDelivery(delivery);
  const answer = await forward(server, event).catch((error): LocalAnswer => {
    if (error instanceof ServerDownError) return { error: error.message, ms: 0 };
    throw error;
  });
  await write(invocation.terminal, lineOf(isForPeople, event, answer));
  return answer.status !== undefined && answer.status >= 200 && answer.status < 300;
}

function lineOf(isForPeople: boolean, event: LocalEvent, answer: LocalAnswer): string {
  const { id, type } = event;
  const { status, error, ms } = answer;
  const now = new Date();
  if (!isForPeople) {
    const result = status === undefined ? { error } : { status };
    return `${JSON.stringify({ time: now.toISOString(), type, id, ...result, ms })}\n`;
  }
  return oneLine(
    `${now.toTimeString().slice(0, 8)}  ${type.padEnd(typeWidth)}  ${id}  ${status ?? error}  ${ms} ms`,
  );
}

const oneLine = (text: string): string => `${text.replaceAll(/\s*\n\s*/g, ' ')}\n`;

function urlOf(text: string): string {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return url.href;
  throw new UsageError(
    `--forward-to ${text}: an address such as http://localhost:3000/hooks is expected`,
  );
}
