import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '#lib/log.ts';
import { requestIdHeader } from '#lib/rpc/request-id.ts';
import type { ServerTls } from '#lib/rpc/tls.ts';
import type { OpenSpan } from '#lib/telemetry/tracing.ts';
import { busy, RequestAdmission, type RequestAdmissionOptions } from './admission/admission.ts';
import { failureOf } from './api/errors.ts';
import { answerMcp, mcpPath } from './api/mcp.ts';
import { type Api, allowed, answerOperation, routeFor } from './api/operation.ts';
import type { Route } from './api/routes.ts';
import type { HtmlPage } from './html/page.ts';
import { allAccepted } from './http/accepted.ts';
import { emptyAnswer, failureAnswer, type HttpAnswer, jsonAnswer, send } from './http/answer.ts';
import { ClientGone } from './http/body.ts';
import { clientAddressBehind } from './http/client-address.ts';
import { packed } from './http/compression.ts';
import { fromAnySite, preflightHeaders } from './http/cors.ts';
import { Exchange } from './http/exchange.ts';
import { openServer, type WebServer } from './http/open-server.ts';
import { notFound, Refusal, requireReading } from './http/refusal.ts';
import { inRequestSpan, measureActive, requestAnswered } from './http/request-telemetry.ts';
import { ReaderStalled, sendStream } from './http/stream.ts';
import { unlessKnown } from './http/unchanged.ts';

export type GatewayOptions = Omit<Api, 'admission'> &
  RequestAdmissionOptions & {
    routes: ReadonlyMap<string, readonly Route[]>;
    pages: readonly HtmlPage[];
    log: Log;
    /** The address as browsers see it; empty where it is not known. */
    publicUrl: string;
    /** How long a client may take to send a request. */
    requestTimeoutMs: number;
    /** The certificate; without it the gateway serves plain HTTP. */
    tls?: ServerTls;
    /** Browsers reach it by HTTPS although it does not speak TLS itself. */
    isHttps?: boolean;
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

/** How long browsers use HTTPS only. */
const oneYear = 'max-age=31536000';

type State = {
  api: Api;
  admission: RequestAdmission;
  draining: boolean;
};

export function createGateway(options: GatewayOptions): Gateway {
  const server = openServer(options);
  const admission = new RequestAdmission(server, options);
  const state: State = { api: { ...options, admission }, admission, draining: false };
  measureActive(() => admission.inProgress);
  const clientAddress = clientAddressBehind(options.trustedProxies);
  admission.handle((request: IncomingMessage, response: ServerResponse) => {
    const exchange = new Exchange(request, response, clientAddress);
    void inRequestSpan(request, (span) => serve(options, state, exchange, span));
  });
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
  const made = await answerOrFail(options, exchange, target);
  const answer =
    made && state.admission.isPaced(made.status) ? await paced(state, exchange, made) : made;
  if (answer) {
    if (state.draining) response.setHeader('connection', 'close');
    if (target.isCors) fromAnySite(response);
    if (options.tls || options.isHttps) response.setHeader('strict-transport-security', oneYear);
    response.setHeader(requestIdHeader, id);
    send(request, response, unlessKnown(request, await packed(request, answer)));
    if (!answer.stream) state.admission.limitReading(exchange);
    if (answer.stream && !response.writableEnded) {
      await sendAll(options, state, exchange, answer.stream);
    }
    // The rest of an ignored body must not count as a request in progress.
    if (!request.complete) state.admission.end(exchange);
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

/** A refusal when its time has come; undefined if its client has left meanwhile. */
async function paced(
  { admission }: State,
  exchange: Exchange,
  refusal: HttpAnswer,
): Promise<HttpAnswer | undefined> {
  await admission.pace(exchange);
  return exchange.signal.aborted ? undefined : refusal;
}

async function sendAll(
  { log }: GatewayOptions,
  { admission }: State,
  { id, path, response, signal }: Exchange,
  stream: AsyncIterable<string>,
): Promise<void> {
  try {
    await sendStream(response, stream, admission.readStallMs);
  } catch (err) {
    if (err instanceof ClientGone) return;
    if (signal.aborted && !(err instanceof ReaderStalled)) return;
    log.error({ requestId: id, path, err }, 'a stream was cut');
  }
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
  const { admission } = state;
  const failureText = 'Internal server error';
  if (path === '/healthz')
    return { name: 'healthz', failureText, answer: () => health(state, request) };
  if (admission.isFull) {
    return { name: 'busy', failureText, answer: () => Promise.reject(busy()) };
  }
  // Before the operations: a form of plain HTML is posted to the path of one.
  for (const { name, answer, isOfMails } of options.pages) {
    const answerPage = answer(exchange, admission);
    if (!answerPage) continue;
    const beginAndAnswer = async () => {
      // A POST is in progress once its body has been read.
      if (request.method !== 'POST') {
        if (isOfMails) admission.beginWithoutShare(exchange);
        else admission.begin(exchange);
      }
      return answerPage();
    };
    return { name, failureText, answer: beginAndAnswer };
  }
  if (path === mcpPath) {
    const mcp = { ...options, ...state.api };
    return { name: 'mcp', failureText, answer: () => answerMcp(mcp, exchange) };
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
  requireReading(request.method);
  return state.draining
    ? jsonAnswer(503, { status: 'draining' })
    : jsonAnswer(200, { status: 'ok' });
}

function refuseUnknown(): never {
  throw notFound();
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
