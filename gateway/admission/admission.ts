/*
 * Every limit that a request passes in the gateway, in the order in which it passes them, with the
 * answer beyond it; the numbers are in `limits.ts`. Everything a request has taken is given back
 * once its answer was sent, it is refused, or its client has left. The service has limits of its
 * own.
 *
 *  1 connections   of all, of an address       the longest idle one is ended, else the new one
 *  2 pipeline      one of a connection         the others wait; if too many, it is ended
 *  3 broken        not HTTP, or a slow head    400, 408, 413, 431
 *  4 room          in progress, of all         503, Retry-After
 *  5 address rate  requests a second           429, Retry-After, RateLimit
 *  6 caller rate   requests a second           429, Retry-After, RateLimit
 *  7 body          size                        413
 *                  memory, of all and its own  429 or 503, Retry-After
 *                  few very large of a caller  waits unread; then 429 or 503, Retry-After
 *                  pause                       408
 *  8 share         of what is in progress      429 or 503, Retry-After
 *  9 places        of a caller                 waits; then 429, Retry-After
 * 10 large body    turns among callers         waits; then 429 or 503, Retry-After
 * 11 streams       of all, of a caller         429, Retry-After
 * 12 reader        too slow for its answer     the connection is cut
 * 13 brake         refusals a second           the refusal waits
 *
 * A file of rows is read by parts in place of 7: 16 at once, 2 of a caller, 8 of a network before
 * their first batch and 4 of a workspace after it, else a 429; 408 if it pauses or is slow. It
 * passes 8 before its first part, 9 and 10 with each batch of its rows.
 *
 * A GET has no body (7). Health passes 1 to 3 and 12; other pages 1 to 4, 7, 8, 12 and 13. Pixels
 * and links of mails have no share (8), since mail programs come from few addresses, and two limits
 * of their own instead: wrong links of an address are a 429, and clicks beyond those that may wait
 * a 503.
 * Reports of providers have places of their own after 8; beyond these, and wherever else a limit
 * refuses them with 429 or 503, the answer is that by which their provider sends them again.
 * `calls.ts` has the limits of calls by gRPC.
 */

import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { PassingMap } from '#lib/collections/passing-map.ts';
import { ConcurrencyLimiter } from '#lib/limits/concurrency-limiter.ts';
import { type Connections, limitConnections } from '#lib/limits/connections.ts';
import { FairShares } from '#lib/limits/fair-shares.ts';
import { RateLimiter } from '#lib/limits/rate-limiter.ts';
import type { RequestLimits } from '#lib/limits/request-limits.ts';
import { largeMessageBytes } from '#lib/limits/turns.ts';
import { clientNetwork } from '#lib/networks/client-network.ts';
import { bodyParts, ClientGone, collectBody } from '../http/body.ts';
import { isWithin } from '../http/client-address.ts';
import type { Exchange } from '../http/exchange.ts';
import { retryAfter } from '../http/limit-headers.ts';
import type { WebServer } from '../http/open-server.ts';
import { Refusal } from '../http/refusal.ts';
import { Brake } from './brake.ts';
import { answerBrokenRequests } from './broken-requests.ts';
import { Bulkhead } from './bulkhead.ts';
import { CallerPlaces } from './caller-places.ts';
import {
  type GatewayLimits,
  imports,
  largeBodies,
  limitsDefault,
  pacedStatuses,
  placesDefault,
  reportRequests,
  unauthenticatedLargeBytes,
  veryLargeBodies,
  veryLargeBytes,
  waitingClicksMax,
  wrongLinks,
} from './limits.ts';
import { oneAtATime, type TakeRequest } from './pipeline.ts';

/** In place of a caller: the request takes no share. */
const nobody = Symbol('nobody');

export type RequestAdmissionOptions = {
  limits?: Partial<GatewayLimits>;
  requestLimits: RequestLimits;
  /** Ranges whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[];
};

export class RequestAdmission {
  readonly #limits: GatewayLimits;
  readonly #server: WebServer;
  readonly #connections: Connections;
  readonly #rates: RequestLimits;
  readonly #memory: FairShares;
  readonly #veryLargeBodies = new ConcurrencyLimiter(veryLargeBodies);
  readonly #shares: FairShares;
  /** The caller whose share each request in progress takes, by its response. */
  readonly #inProgress = new PassingMap<ServerResponse, string | typeof nobody>();
  readonly #places = new CallerPlaces(placesDefault, tooManyAtOnce);
  readonly #largeBodies = new ConcurrencyLimiter(largeBodies);
  readonly #streams: Bulkhead;
  readonly #imports = {
    ofCallers: new Bulkhead({ max: imports.max, perCallerMax: imports.perCallerMax }),
    ofNetworks: new Bulkhead({ max: imports.max, perCallerMax: imports.perNetworkMax }),
    ofWorkspaces: new Bulkhead({ max: imports.max, perCallerMax: imports.perWorkspaceMax }),
  };
  /** The connections of files that are read, which may take as long as they make progress. */
  readonly #lasting = new WeakSet<Duplex>();
  readonly #brake = new Brake();
  readonly #wrongLinks = { open: wrongLinkRate(), click: wrongLinkRate() };
  readonly #waitingClicks = new Bulkhead({ max: waitingClicksMax });
  readonly #reports = {
    ofNetworks: new Bulkhead({
      max: reportRequests.max,
      perCallerMax: reportRequests.perNetworkMax,
    }),
    ofWorkspaces: new Bulkhead({
      max: reportRequests.max,
      perCallerMax: reportRequests.perWorkspaceMax,
    }),
  };

  constructor(
    server: WebServer,
    { limits, requestLimits, trustedProxies }: RequestAdmissionOptions,
  ) {
    this.#limits = { ...limitsDefault, ...limits };
    this.#server = server;
    this.#rates = requestLimits;
    this.#memory = new FairShares(this.#limits.bodiesMaxBytes);
    this.#shares = new FairShares(this.#limits.inFlightMax);
    const { streamsMax: max, streamsPerCallerMax: perCallerMax } = this.#limits;
    this.#streams = new Bulkhead({ max, perCallerMax });
    // 1
    this.#connections = limitConnections(server, {
      max: this.#limits.connectionsMax,
      perAddressMax: this.#limits.connectionsPerAddressMax,
      isExempt: isWithin(trustedProxies),
    });
  }

  /** 2, 3: has the requests of the server handled, one of a connection at a time. */
  handle(take: TakeRequest): void {
    const takeInTurn = oneAtATime(take);
    this.#server.on('request', takeInTurn).on('checkContinue', takeInTurn);
    answerBrokenRequests(this.#server, (socket) => this.#lasting.has(socket));
  }

  /** 4: whether no more requests may begin. */
  get isFull(): boolean {
    return this.#inProgress.size >= this.#limits.inFlightMax;
  }

  get inProgress(): number {
    return this.#inProgress.size;
  }

  /** 5: a request of the API, with a token or without. */
  countAddress({ clientAddress }: Exchange): void {
    this.#rates.take('address', clientAddress);
  }

  /** 6: once the user or key is known. */
  countCaller({ caller }: Exchange): void {
    this.#rates.take('key', caller);
  }

  /** 7 and 8: the body of a request, which is in progress from then on. */
  async readBody(exchange: Exchange, limitBytes: number): Promise<Buffer> {
    const { request, response, caller } = exchange;
    const announcedBytes = Number(request.headers['content-length'] ?? 0);
    if (announcedBytes > limitBytes) throw tooLarge();
    let sizeBytes = 0;
    exchange.hold(() => {
      this.#memory.change(caller, -sizeBytes);
      sizeBytes = 0;
    });
    let hasTurn = false;
    const takeTurn = async () => {
      hasTurn = true;
      exchange.hold(await this.#veryLargeBodies.enter(caller, exchange.signal));
    };
    if (announcedBytes > veryLargeBytes) await takeTurn();
    // A client that sent `Expect: 100-continue` waits for this before it sends the body.
    if (request.headers.expect) response.writeContinue();
    const account = (chunk: Buffer) => {
      requireShare(this.#memory, caller, chunk.length);
      sizeBytes += chunk.length;
      this.#memory.change(caller, chunk.length);
      if (sizeBytes > limitBytes) throw tooLarge();
      return sizeBytes > veryLargeBytes && !hasTurn ? takeTurn() : undefined;
    };
    const stallMs = this.#limits.bodyStallMs;
    const body = await collectBody(request, { stallMs, stalled: tooSlow, account });
    this.begin(exchange);
    return body;
  }

  /**
   * In place of 7, and 8: the parts of a file of rows, which is in progress from now on, and what
   * is called once it is known that the caller may write to a workspace.
   */
  beginImport(exchange: Exchange): {
    parts: AsyncIterable<Buffer>;
    belongsTo: (workspaceId: string) => void;
  } {
    const { request, response, caller } = exchange;
    this.begin(exchange);
    const { ofCallers, ofNetworks, ofWorkspaces } = this.#imports;
    if (!ofCallers.enter(caller)) throw tooManyImports();
    exchange.hold(() => ofCallers.leave(caller));
    const network = clientNetwork(exchange.clientAddress);
    if (!ofNetworks.enter(network)) throw tooManyImports();
    let isOfNetwork = true;
    const leaveNetwork = () => {
      if (isOfNetwork) ofNetworks.leave(network);
      isOfNetwork = false;
    };
    exchange.hold(leaveNetwork);
    const { socket } = request;
    this.#lasting.add(socket);
    exchange.hold(() => this.#lasting.delete(socket));
    if (request.headers.expect) response.writeContinue();
    const { bodyStallMs: stallMs, importMinBytes: bytesMin } = this.#limits;
    return {
      parts: bodyParts(request, { stallMs, stalled: tooSlow, bytesMin }),
      belongsTo: (workspaceId) => {
        if (!ofWorkspaces.enter(workspaceId)) throw tooManyImports();
        exchange.hold(() => ofWorkspaces.leave(workspaceId));
        leaveNetwork();
      },
    };
  }

  /** 9 and 10 of a batch of rows; resolves with what ends its place and turn. */
  async takeBatchTurn(exchange: Exchange, sizeBytes: number): Promise<() => void> {
    const { caller, signal } = exchange;
    const leave = await this.#places.enter(caller, signal);
    try {
      const endTurn = await this.takeTurn(exchange, sizeBytes);
      return () => {
        endTurn();
        leave();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** 8: a request is in progress from when all of it has arrived until its answer is sent. */
  begin(exchange: Exchange): void {
    requireShare(this.#shares, exchange.caller, 1);
    this.#shares.change(exchange.caller, 1);
    this.#count(exchange, exchange.caller);
  }

  /** In place of 8, for a pixel or link of a mail. */
  beginWithoutShare(exchange: Exchange): void {
    this.#count(exchange, nobody);
  }

  #count(exchange: Exchange, caller: string | typeof nobody): void {
    const { request, response } = exchange;
    this.#inProgress.set(response, caller);
    this.#connections.of(request.socket)?.count(1);
    exchange.hold(() => this.end(exchange));
  }

  end({ request, response }: Exchange): void {
    const caller = this.#inProgress.get(response);
    if (caller === undefined) return;
    this.#inProgress.delete(response);
    if (caller !== nobody) this.#shares.change(caller, -1);
    this.#connections.of(request.socket)?.count(-1);
  }

  /** 9: not before the body is there, since its client could keep the place for as long. */
  async takePlace(exchange: Exchange): Promise<void> {
    const { caller, signal } = exchange;
    exchange.hold(await this.#places.enter(caller, signal, exchange.isUnauthenticated));
  }

  /** 10: resolves with what ends the turn. Nobody has one while a client reads its answer. */
  async takeTurn(exchange: Exchange, sizeBytes: number): Promise<() => void> {
    const { caller, signal, isUnauthenticated } = exchange;
    this.#largeBodies.noteCall(caller);
    this.#veryLargeBodies.noteCall(caller);
    const largeBytes = isUnauthenticated ? unauthenticatedLargeBytes : largeMessageBytes;
    if (sizeBytes > largeBytes) return this.#largeBodies.enter(caller, signal);
    return () => {};
  }

  /** 11: until the response is over. Each holds a page while its client reads. */
  beginStream({ response, caller }: Exchange): void {
    if (response.closed) throw new ClientGone();
    if (!this.#streams.enter(caller)) throw tooManyStreams();
    response.once('close', () => this.#streams.leave(caller));
  }

  /** 12: how long a client may read nothing of a stream. */
  get readStallMs(): number {
    return this.#limits.readStallMs;
  }

  /** 12: cuts the connection of a client that does not read a whole answer in its time. */
  limitReading({ response }: Exchange): void {
    const bytes = response.writableLength;
    // The system has taken it.
    if (bytes === 0) return;
    const { readStallMs, readMinBytesPerSecond } = this.#limits;
    const timeMs = readStallMs + (bytes / readMinBytesPerSecond) * 1_000;
    const timer = setTimeout(() => response.destroy(), timeMs);
    response.once('close', () => clearTimeout(timer));
  }

  /** 13: whether answers of the status wait for `pace`. */
  isPaced(status: number): boolean {
    return pacedStatuses.has(status);
  }

  /** 13: resolves when a refusal may be sent. Meanwhile it holds nothing that others need. */
  pace(exchange: Exchange): Promise<void> {
    const { caller, signal, isUnauthenticated } = exchange;
    exchange.release();
    return this.#brake.hold(isUnauthenticated ? clientNetwork(caller) : caller, signal);
  }

  /** Links of mails that are not ours. Opens and clicks are counted apart. */
  countWrongLink(kind: 'open' | 'click', { clientAddress }: Exchange): void {
    const { isRefused, resetMs } = this.#wrongLinks[kind].take(clientNetwork(clientAddress));
    if (isRefused) throw tooManyWrongLinks(resetMs);
  }

  /** Takes a place of those for reports of providers; gives what ends it. */
  enterReports({ clientAddress }: Exchange, workspaceId: string): () => void {
    const { ofNetworks, ofWorkspaces } = this.#reports;
    const network = clientNetwork(clientAddress);
    if (!ofNetworks.enter(network)) throw busy();
    if (!ofWorkspaces.enter(workspaceId)) {
      ofNetworks.leave(network);
      throw busy();
    }
    return () => {
      ofNetworks.leave(network);
      ofWorkspaces.leave(workspaceId);
    };
  }

  /** Whether one more click may wait for the links of its mail. */
  requireRoomToWait(): void {
    if (this.#waitingClicks.isFull) throw busy();
  }

  async waitForLinks<Links>(links: Promise<Links>): Promise<Links> {
    if (!this.#waitingClicks.enter('')) throw busy();
    try {
      return await links;
    } finally {
      this.#waitingClicks.leave('');
    }
  }
}

const wrongLinkRate = () => new RateLimiter(wrongLinks.perSecond, { burst: wrongLinks.burst });

/** Throws a 429 if the caller has its share already, and a 503 if all together have everything. */
function requireShare(shares: FairShares, caller: string, more: number): void {
  const verdict = shares.verdict(caller, more);
  if (verdict === 'all') throw busy();
  if (verdict === 'caller') throw tooManyAtOnce();
}

const retryMs = 1_000;
/** Exports and imports take minutes. */
const streamRetryMs = 5_000;

const tooMany = (text: string, retryInMs = retryMs) =>
  new Refusal(429, 'resource_exhausted', text, retryAfter(retryInMs));
export const tooManyAtOnce = () => tooMany('too many requests at once; wait for their answers');
const tooManyStreams = () => tooMany('too many exports run at once', streamRetryMs);
const tooManyImports = () => tooMany('too many imports run at once', streamRetryMs);
const tooManyWrongLinks = (resetMs: number) =>
  tooMany('too many wrong links from this address; slow down', resetMs);
const tooLarge = () => new Refusal(413, 'payload_too_large', 'Request body too large');
const tooSlow = () => new Refusal(408, 'request_timeout', 'Request took too long to arrive');

export const busy = () => new Refusal(503, 'unavailable', 'Too many requests', retryAfter(retryMs));
