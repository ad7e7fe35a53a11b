import { setTimeout as sleep } from 'node:timers/promises';
import { FairShares } from '#lib/limits/fair-shares.ts';
import type { SendOutcome } from '../outcome.ts';
import { isOver, isTooLate, type Outgoing } from '../outgoing.ts';
import type { Sender, SenderHost } from '../provider.ts';
import { OutgoingQueue } from '../queue.ts';
import { type ApiAnswer, type HttpApi, type MailPart, UntakenError } from './api.ts';
import { type Exchanged, HttpConnection } from './connection.ts';
import { byStatus, isOfFirewall, refusedByOther, unreadable } from './outcome.ts';

export type HttpSenderOptions = {
  answerMs?: number;
  repeatAfterMs?: number;
  fillMs?: number;
  /** Shares of all senders of the process if absent. */
  bodies?: FairShares;
};

/**
 * Bytes that are rendered and under way, by workspace, which may have a hundred integrations with
 * many requests each. Without a share left a sender has one request at a time, with one mail.
 */
const bodiesOfProcess = new FairShares(128_000_000);

/**
 * Requests at a time, whatever the provider's speed, and to a slow one at a high rate. All mails of
 * those under way are in doubt when the process is killed, so that batches are few.
 */
const requestsMax = { usual: 16, batches: 4, most: 64 };
/** The rate is divided by the usual answer's time; many take longer. */
const headroom = 1.5;
/** Of a request with several mails: a process holds as many of them as it has requests. */
const requestBytesMax = 5_000_000;
/** Mails of a batch are rendered one after the other, which holds up all else of the process. */
const fillMsDefault = 20;
/** A rate that no process reaches. */
const processPerMs = 7_500 / 1_000;
const tickMs = 250;
/**
 * Providers answer within seconds, and take what they have read: a mail that is given up earlier
 * may arrive twice.
 */
const answerMsDefault = 60_000;
/** An answer to one mail, of which the first words count, and what each further mail adds. */
const answerBytes = { first: 64 * 1_024, each: 2 * 1_024 };
/** How often a request is repeated whose answer was lost, at a provider that takes it once. */
const repeatsMax = 2;
const repeatAfterMsDefault = 2_000;
/** By these a provider says that too much is asked of it at the moment. */
const busyStatuses = new Set([420, 429, 503]);
/**
 * By these a proxy before the provider says that it got no answer in time: the provider may have
 * taken the mails. 524 is Cloudflare's.
 */
const timeoutStatuses = new Set([504, 524]);
/** The pause after a busy answer, unless it names one, and the longest. */
const pauseMs = { usual: 1_000, most: 60_000 };
/** Each answer counts an eighth of the usual time. */
const smoothing = 8;

const noMime = 'the provider takes no finished mails';

type Ready = { outgoing: Outgoing; part: MailPart; bytes: number };

/** Sends mails as HTTP requests, in batches where the provider takes them. */
export class HttpSender implements Sender {
  readonly #host: SenderHost;
  readonly #api: HttpApi;
  readonly #options: Required<HttpSenderOptions>;
  readonly #queue: OutgoingQueue;
  readonly #free: HttpConnection[] = [];
  readonly #busy = new Set<HttpConnection>();
  /** From the first mail taken for a request until all its mails are settled. */
  #requests = 0;
  /** Taken, and not in a request yet. */
  #carried: Ready | undefined;
  #soon: NodeJS.Immediate | undefined;
  #answeredInMs = 0;
  #unansweredForMs = 0;
  #pausedUntilMs = 0;
  #ticker: NodeJS.Timeout | undefined;
  #isClosed = false;
  perMinute: number | undefined;

  constructor(host: SenderHost, api: HttpApi, options: HttpSenderOptions = {}) {
    this.#host = host;
    this.#api = api;
    this.#options = {
      answerMs: answerMsDefault,
      repeatAfterMs: repeatAfterMsDefault,
      fillMs: fillMsDefault,
      bodies: bodiesOfProcess,
      ...options,
    };
    this.#queue = new OutgoingQueue(host, () => this.#pump());
  }

  get waiting(): number {
    return this.#queue.waiting + (this.#carried ? 1 : 0);
  }

  get isProbing(): boolean {
    return this.#queue.isProbing;
  }

  get connections(): number {
    return this.#requests;
  }

  get atOnce(): number {
    return this.isProbing ? 1 : Math.ceil(this.#requestsMax) * this.#countMax;
  }

  /** A provider that answers nothing takes longer and longer. */
  get messageMs(): number {
    return Math.max(this.#answeredInMs, this.#unansweredForMs);
  }

  send(messages: readonly Outgoing[], { isUrgent = false } = {}): void {
    this.#queue.add(messages, isUrgent);
    this.#ticker ??= setInterval(() => this.#tick(), tickMs).unref();
    this.#pump();
  }

  resume(): void {
    this.#pump();
  }

  dropOver(): void {
    this.#queue.dropOver();
    if (this.#carried && isTooLate(this.#carried.outgoing)) this.#dropCarried();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
    this.#queue.close();
    this.#dropCarried();
    for (const connection of [...this.#free, ...this.#busy]) connection.close();
  }

  #dropCarried(): void {
    const { outgoing } = this.#carried ?? {};
    this.#carried = undefined;
    if (outgoing) this.#queue.settle(outgoing, { kind: 'not_started' }, false);
  }

  get #countMax(): number {
    return this.#api.batch?.countMax ?? 1;
  }

  get #requestsMax(): number {
    const perMs = Math.min((this.perMinute ?? 0) / 60_000, processPerMs) / this.#countMax;
    const needed = this.#answeredInMs * perMs * headroom;
    const least = this.#countMax > 1 ? requestsMax.batches : requestsMax.usual;
    return Math.min(Math.max(least, needed), requestsMax.most);
  }

  #tick(): void {
    const nowMs = performance.now();
    const ages = [...this.#busy].map(({ startedAtMs = nowMs }) => nowMs - startedAtMs);
    this.#unansweredForMs = ages.length > 0 ? Math.min(...ages) : 0;
    this.dropOver();
    this.#queue.settleKept();
    this.#pump();
    if (this.waiting > 0 || this.#requests > 0 || this.#queue.keepsAny) return;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
  }

  /** A batch takes what waits; the next one is filled in another turn of the event loop. */
  #pump(): void {
    while (this.#requests < this.#requestsMax && Date.now() >= this.#pausedUntilMs) {
      if (!this.#hasShare && this.#requests > 0) return;
      const batch = this.#isClosed ? [] : this.#fill();
      if (batch.length === 0) return;
      const bytes = batch.reduce((sum, ready) => sum + ready.bytes, 0);
      this.#hold(bytes);
      this.#requests += 1;
      void this.#deliver(batch).finally(() => {
        this.#hold(-bytes);
        this.#requests -= 1;
        this.#pump();
      });
      if (this.#countMax > 1) {
        this.#soon ??= setImmediate(() => {
          this.#soon = undefined;
          this.#pump();
        });
        return;
      }
    }
  }

  get #hasShare(): boolean {
    const { workspaceId = '' } = this.#host;
    return this.#options.bodies.verdict(workspaceId, 1) === 'granted';
  }

  #hold(bytes: number): void {
    const { workspaceId = '' } = this.#host;
    this.#options.bodies.change(workspaceId, bytes);
  }

  /** The mails of a request. One that was taken and does not fit is the first of the next. */
  #fill(): Ready[] {
    const { batch: limits } = this.#api;
    const bytesMax = this.#hasShare ? Math.min(limits?.bytesMax ?? 0, requestBytesMax) : 0;
    const untilMs = performance.now() + this.#options.fillMs;
    const batch: Ready[] = [];
    let bytes = 0;
    do {
      const ready = this.#carried ?? this.#take();
      this.#carried = undefined;
      if (!ready) return batch;
      bytes += ready.bytes;
      if (batch.length > 0 && (bytes > bytesMax || ready.part.isAlone)) {
        this.#carried = ready;
        return batch;
      }
      batch.push(ready);
      if (ready.part.isAlone) return batch;
    } while (batch.length < this.#countMax && performance.now() < untilMs);
    return batch;
  }

  /** The next mail, as a request holds it; one that cannot be sent fails alone. */
  #take(): Ready | undefined {
    for (;;) {
      const taken = this.#queue.take();
      if (!taken) return undefined;
      const { outgoing, mail } = taken;
      try {
        if (mail.finished && !this.#api.takesMime) throw new UntakenError(noMime);
        const part = this.#api.part(mail, outgoing);
        // With the comma between two.
        return { outgoing, part, bytes: Buffer.byteLength(part.body) + 1 };
      } catch (error) {
        const info = error instanceof UntakenError ? error.message : outgoing.failureInfo(error);
        this.#queue.settle(outgoing, { kind: 'failed', info }, false);
      }
    }
  }

  async #deliver(batch: readonly Ready[]): Promise<void> {
    const begun = await this.#begin(batch);
    if (begun.length === 0) return;
    const connection = this.#free.pop() ?? new HttpConnection(this.#api.origin, this.#host.resolve);
    this.#busy.add(connection);
    try {
      await this.#exchange(connection, begun);
    } finally {
      this.#busy.delete(connection);
      this.#free.push(connection);
    }
  }

  /** The mails whose bodies may be written; the others are settled. */
  async #begin(batch: readonly Ready[]): Promise<Ready[]> {
    const answers = await Promise.all(
      batch.map(({ outgoing: { begin } }) => begin === undefined || new Promise<boolean>(begin)),
    );
    return batch.filter(({ outgoing }, index) => {
      const mayWrite = answers[index] === true && !isOver(outgoing);
      if (!mayWrite) this.#queue.settle(outgoing, { kind: 'not_started' }, false);
      return mayWrite;
    });
  }

  async #exchange(connection: HttpConnection, batch: readonly Ready[]): Promise<void> {
    const sent = batch.map(({ outgoing }) => outgoing);
    const request = this.#api.request(
      batch.map(({ part }) => part),
      new Date(),
    );
    const options = {
      mayWrite: () => !this.#isClosed && !sent.some(isOver),
      answerMs: this.#options.answerMs,
      sizeMaxBytes: answerBytes.first + answerBytes.each * sent.length,
    };
    for (let repeats = 0; ; repeats += 1) {
      const startedAtMs = performance.now();
      const exchange = await connection.exchange(request, options);
      const isFirst = connection.answered === 0;
      if (exchange.kind === 'answered') {
        const { answer } = exchange;
        this.#measure(performance.now() - startedAtMs);
        connection.answered += 1;
        const isLater = busyStatuses.has(answer.status) || answer.status >= 500;
        const saysNothing =
          timeoutStatuses.has(answer.status) ||
          this.#api.isUnderway?.(answer) ||
          // A repeat that comes too soon says nothing of the first request.
          (isLater && repeats > 0);
        if (!saysNothing) {
          await this.#settleAnswered(connection, batch, answer);
          return;
        }
      }
      const isLost = exchange.kind === 'answered' || exchange.kind === 'unanswered';
      if (isLost && this.#api.isUnderway && repeats < repeatsMax && options.mayWrite()) {
        await sleep(this.#options.repeatAfterMs);
        if (options.mayWrite()) continue;
      }
      this.#settleUnanswered(sent, exchange, { isFirst, isRepeated: repeats > 0 });
      return;
    }
  }

  #measure(tookMs: number): void {
    const before = this.#answeredInMs;
    this.#answeredInMs = before === 0 ? tookMs : before + (tookMs - before) / smoothing;
  }

  async #settleAnswered(
    connection: HttpConnection,
    batch: readonly Ready[],
    answer: ApiAnswer,
  ): Promise<void> {
    const sent = batch.map(({ outgoing }) => outgoing);
    const outcomes = this.#outcomesOf(sent, answer);
    if (outcomes === 'separately') {
      for (const each of batch) {
        // After many refusals alike the rest would be refused, too.
        if (this.isProbing) this.#queue.settle(each.outgoing, { kind: 'not_started' }, false);
        else await this.#exchange(connection, [each]);
      }
      return;
    }
    if (busyStatuses.has(answer.status)) {
      const waits = outcomes.map((each) => (each.kind === 'deferred' && each.retryAfterMs) || 0);
      const waitMs = Math.max(...waits) || pauseMs.usual;
      this.#pausedUntilMs = Date.now() + Math.min(waitMs, pauseMs.most);
    }
    for (const [index, outgoing] of sent.entries()) {
      // Unlike a connection that is lost, an answer that says nothing of a mail is a sign for each.
      this.#queue.settle(outgoing, outcomes[index] ?? unreadable(answer), true);
    }
  }

  #outcomesOf(sent: readonly Outgoing[], answer: ApiAnswer): readonly SendOutcome[] | 'separately' {
    if (isOfFirewall(answer)) {
      return sent.length > 1 ? 'separately' : sent.map(() => refusedByOther(answer));
    }
    try {
      const outcomes = this.#api.outcomes(answer, sent);
      if (outcomes === 'separately' ? sent.length > 1 : outcomes.length === sent.length) {
        return outcomes;
      }
    } catch {
      // An answer of another form than the provider's.
    }
    return sent.map(() => (answer.status < 300 ? unreadable(answer) : byStatus(answer, '')));
  }

  #settleUnanswered(
    sent: readonly Outgoing[],
    exchange: Exchanged,
    { isFirst, isRepeated }: { isFirst: boolean; isRepeated: boolean },
  ): void {
    const { kind } = exchange;
    const reason = reasonOf(exchange);
    const isAnswered = kind === 'answered';
    const isUnknown = kind === 'unanswered' || isAnswered || isRepeated;
    for (const [index, outgoing] of sent.entries()) {
      if (isUnknown) {
        // A connection that is lost is one sign, however many mails were on it.
        const isSign = isAnswered || (isFirst && index === 0);
        const info = `${reason} before the provider had answered`;
        this.#queue.settle(outgoing, { kind: 'unknown', info }, isSign);
      } else if (kind === 'cut') {
        outgoing.lost += 1;
        const info = `${reason} before the message was sent`;
        this.#queue.giveBack(outgoing, { kind: 'deferred', info });
      } else if (kind === 'unreached') {
        this.#queue.settle(outgoing, { kind: 'outage', info: reason }, false);
      } else this.#queue.settle(outgoing, { kind: 'not_started' }, false);
    }
    if (kind === 'unreached') this.#queue.refuseAll(reason);
  }
}

function reasonOf(exchange: Exchanged): string {
  if (exchange.kind === 'answered') return `status ${exchange.answer.status}`;
  return 'reason' in exchange ? exchange.reason : 'the request is under way';
}
