import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassingMap } from '#lib/collections/passing-map.ts';
import { type Connections, limitConnections } from '#lib/limits/connections.ts';
import { FairShares } from '#lib/limits/fair-shares.ts';
import { WaitingLane } from '#lib/limits/lanes.ts';
import type { Log } from '#lib/log.ts';
import { clientNetwork } from '#lib/networks/client-network.ts';
import { requestIdHeader } from '#lib/rpc/request-id.ts';
import type { ServerTls } from '#lib/rpc/tls.ts';
import type { OpenSpan } from '#lib/telemetry/tracing.ts';
import { Brake } from './api/brake.ts';
import { failureOf } from './api/errors.ts';
import { type Api, allowed, answerOperation, routeFor } from './api/operation.ts';
import { CallerPlaces, placesDefault } from './api/places.ts';
import type { Route } from './api/routes.ts';
import { allAccepted } from './http/accepted.ts';
import { emptyAnswer, failureAnswer, type HttpAnswer, jsonAnswer, send } from './http/answer.ts';
import { busy, ClientGone, createBodyReader, type ReadBody, requireShare } from './http/body.ts';
import { answerBrokenRequests } from './http/broken-requests.ts';
import { clientAddressBehind, isWithin } from './http/client-address.ts';
import { packed } from './http/compression.ts';
import { fromAnySite, preflightHeaders } from './http/cors.ts';
import { Exchange } from './http/exchange.ts';
import { type GatewayLimits, limitsDefault } from './http/limits.ts';
import { openServer, type WebServer } from './http/open-server.ts';
import { oneAtATime } from './http/pipeline.ts';
import { Refusal } from './http/refusal.ts';
import { inRequestSpan, measureActive, requestAnswered } from './http/request-telemetry.ts';
import { ReaderStalled, Streams, sendStream } from './http/stream.ts';
import type { HtmlPage } from './pages/page.ts';

export type GatewayOptions = Omit<
  Api,
  'arrivingBodies' | 'begin' | 'callers' | 'largeBodies' | 'readBody' | 'streams'
> & {
  routes: ReadonlyMap<string, readonly Route[]>;
  pages: readonly HtmlPage[];
  log: Log;
  /** Ranges whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[];
  /** How long a client may take to send a request. */
  requestTimeoutMs: number;
  /** The certificate; without it the gateway serves plain HTTP. */
  tls?: ServerTls;
  /** Browsers reach it by HTTPS although it does not speak TLS itself. */
  isHttps?: boolean;
  limits?: Partial<GatewayLimits>;
};

export type Gateway = {
  server: WebServer;
  /**
   * `/healthz` is a 503 from now on, and each answer closes its connection, so that none is closed
   * under a request.
   */
  retire(): void;
  drain(graceMs: number): Promise<void>;
};

/**
 * Of a caller two, so that one is read while another is written; one while others are active, and
 * none for twice as long after it.
 */
const largeBodyLane = {
  places: 6,
  aloneMax: 2,
  tenantWaitingMax: 64,
  waitMaxMs: 10_000,
  besideOthers: { places: 1, restTimes: 2, restMaxMs: 1_000 },
};
/**
 * Very large bodies of a caller are read one after the other, and not at all before: they would
 * fill the memory while they wait for their turns, and collecting it stops everybody. Each caller
 * has places of its own, so that slow ones hold up nobody else.
 */
const arrivingBodyLane = {
  places: 1_024,
  aloneMax: 4,
  tenantWaitingMax: 64,
  // Shorter than the pause of a body that counts as the client's.
  waitMaxMs: 9_000,
  besideOthers: { places: 2, restTimes: 0, restMaxMs: 0 },
};
/** Refusals that a caller avoids by other requests, or fewer. */
const pacedStatuses = new Set([400, 401, 403, 405, 408, 413, 415, 429]);
/** How long browsers use HTTPS only. */
const oneYear = 'max-age=31536000';

/** In place of a caller: the request counts, and takes no share. */
const ofNobody = Symbol('nobody');

type State = {
  api: Api;
  limits: GatewayLimits;
  connections: Connections;
  /** Whose share each request in progress takes, by their responses. */
  working: PassingMap<ServerResponse, string | typeof ofNobody>;
  shares: FairShares;
  brake: Brake;
  draining: boolean;
};

export function createGateway(options: GatewayOptions): Gateway {
  const limits = { ...limitsDefault, ...options.limits };
  const server = openServer(options);
  const connections = limitConnections(server, {
    max: limits.connectionsMax,
    perAddressMax: limits.connectionsPerAddressMax,
    isExempt: isWithin(options.trustedProxies),
  });
  const { bodiesMaxBytes: budgetBytes, bodyStallMs: stallMs } = limits;
  const arrivingBodies = new WaitingLane(arrivingBodyLane);
  const read = createBodyReader({ budgetBytes, stallMs, arrivingBodies });
  const readBody: ReadBody = async (exchange, limitBytes) => {
    const body = await read(exchange, limitBytes);
    begin(state, exchange, exchange.caller);
    return body;
  };
  const { streamsMax: max, streamsPerCallerMax: perCallerMax } = limits;
  const api = {
    ...options,
    readBody,
    begin: (exchange: Exchange) => begin(state, exchange, exchange.caller),
    streams: new Streams({ max, perCallerMax }),
    largeBodies: new WaitingLane(largeBodyLane),
    arrivingBodies,
    callers: new CallerPlaces(placesDefault),
  };
  const shares = new FairShares(limits.inFlightMax);
  const state: State = {
    api,
    limits,
    connections,
    working: new PassingMap(),
    shares,
    brake: new Brake(),
    draining: false,
  };
  measureActive(() => state.working.size);
  const clientAddress = clientAddressBehind(options.trustedProxies);
  const take = oneAtATime((request: IncomingMessage, response: ServerResponse) => {
    const exchange = new Exchange(request, response, clientAddress);
    void inRequestSpan(request, (span) => serve(options, state, exchange, span));
  });
  server.on('request', take).on('checkContinue', take);
  answerBrokenRequests(server);
  const retire = () => {
    state.draining = true;
  };
  return { server, retire, drain: (graceMs) => drain(server, state, graceMs) };
}

async function serve(
  options: GatewayOptions,
  state: State,
  exchange: Exchange,
  span: OpenSpan,
): Promise<void> {
  const { request, response, id } = exchange;
  const startedAtMs = performance.now();
  const target = targetOf(options, state, exchange);
  const answer = await paced(state, exchange, await answerOrFail(options, exchange, target));
  if (answer) {
    if (state.draining) response.setHeader('connection', 'close');
    if (target.isCors) fromAnySite(response);
    if (options.tls || options.isHttps) response.setHeader('strict-transport-security', oneYear);
    response.setHeader(requestIdHeader, id);
    send(request, response, await packed(request, answer));
    if (answer.stream && !response.writableEnded) {
      await sendAll(options, state, exchange, answer.stream);
    }
    // The rest of an ignored body must not count as a request in progress.
    if (!request.complete) end(state, exchange);
  }
  const status = answer?.status ?? 499;
  requestAnswered(span, request, { route: target.route ?? target.name, status, startedAtMs });
  options.log.info(
    {
      requestId: id,
      operation: target.name,
      verb: request.method,
      status,
      durationMs: Math.round(performance.now() - startedAtMs),
    },
    'request',
  );
}

/** The answer, when its time has come: a refusal may have to wait, and holds nothing meanwhile. */
async function paced(
  { brake }: State,
  exchange: Exchange,
  answer: HttpAnswer | undefined,
): Promise<HttpAnswer | undefined> {
  if (!answer || !pacedStatuses.has(answer.status)) return answer;
  const { caller, clientAddress, signal } = exchange;
  exchange.release();
  await brake.hold(caller === clientAddress ? clientNetwork(caller) : caller, signal);
  return signal.aborted ? undefined : answer;
}

async function sendAll(
  { log }: GatewayOptions,
  { limits }: State,
  { id, path, response, signal }: Exchange,
  stream: AsyncIterable<string>,
): Promise<void> {
  try {
    await sendStream(response, stream, limits.readStallMs);
  } catch (err) {
    if (signal.aborted && !(err instanceof ReaderStalled)) return;
    log.error({ requestId: id, path, err }, 'a stream was cut');
  }
}

/** A request is in progress from when all of it has arrived until its answer is sent. */
function begin(state: State, exchange: Exchange, caller: string | typeof ofNobody): void {
  const { request, response } = exchange;
  if (caller !== ofNobody) {
    requireShare(state.shares, caller, 1);
    state.shares.change(caller, 1);
  }
  state.working.set(response, caller);
  state.connections.of(request.socket)?.count(1);
  exchange.hold(() => end(state, exchange));
}

function end(state: State, { request, response }: Exchange): void {
  const caller = state.working.get(response);
  if (caller === undefined) return;
  state.working.delete(response);
  if (caller !== ofNobody) state.shares.change(caller, -1);
  state.connections.of(request.socket)?.count(-1);
}

/**
 * The operation or page of a request. `name` is for the log; `failureText` is the whole text of
 * internal errors.
 */
type Target = {
  name: string;
  failureText: string;
  answer: () => HttpAnswer | Promise<HttpAnswer>;
  /** The path of an operation. */
  route?: string;
  /** Whether browsers may call it from any site. */
  isCors?: boolean;
};

function targetOf(options: GatewayOptions, state: State, exchange: Exchange): Target {
  const { request, path } = exchange;
  const failureText = 'Internal server error';
  if (path === '/healthz')
    return { name: 'healthz', failureText, answer: () => health(state, request) };
  if (state.working.size >= state.limits.inFlightMax) {
    return { name: 'busy', failureText, answer: () => Promise.reject(busy()) };
  }
  // Before the operations: a form of plain HTML is posted to the path of one.
  for (const { name, answer, isOfMails } of options.pages) {
    const answerPage = answer(exchange, state.api.readBody);
    if (!answerPage) continue;
    const answerInPlace = async () => {
      // A POST is in progress once its body has been read.
      if (request.method !== 'POST') begin(state, exchange, isOfMails ? ofNobody : exchange.caller);
      return answerPage();
    };
    return { name, failureText, answer: answerInPlace };
  }
  const routesAtPath = options.routes.get(path);
  if (routesAtPath) {
    const route = routeFor(routesAtPath, request.method);
    return {
      ...route,
      route: path,
      answer: () =>
        request.method === 'OPTIONS'
          ? emptyAnswer(allowed(routesAtPath), route.isCors ? preflightHeaders(route.verb) : {})
          : answerOperation(state.api, routesAtPath, exchange),
    };
  }
  return { name: 'unknown', failureText, answer: refuseUnknown };
}

/**
 * The answer; undefined if the client has disconnected. Internal errors are logged here and nowhere
 * else.
 */
async function answerOrFail(
  { log }: GatewayOptions,
  exchange: Exchange,
  target: Target,
): Promise<HttpAnswer | undefined> {
  try {
    return await target.answer();
  } catch (error) {
    const { id, signal } = exchange;
    if (error instanceof ClientGone || signal.aborted) return undefined;
    const failure = failureOf(error, target.failureText);
    if (failure.status >= 500 && !(error instanceof Refusal)) {
      log.error({ requestId: id, operation: target.name, err: error }, 'operation failed');
    }
    return failureAnswer(failure, id);
  }
}

function health(state: State, request: IncomingMessage): HttpAnswer {
  if (request.method === 'OPTIONS') return emptyAnswer('GET, HEAD, OPTIONS');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const allow = { allow: 'GET, HEAD, OPTIONS' };
    throw new Refusal(405, 'method_not_allowed', 'Method not allowed', allow);
  }
  return state.draining
    ? jsonAnswer(503, { status: 'draining' })
    : jsonAnswer(200, { status: 'ok' });
}

function refuseUnknown(): never {
  throw new Refusal(404, 'not_found', 'Not found');
}

/** Takes no new connections, lets requests finish for `graceMs`, then ends them. */
async function drain(server: WebServer, state: State, graceMs: number): Promise<void> {
  state.draining = true;
  await allAccepted(server);
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
