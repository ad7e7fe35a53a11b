import type { Message } from '@bufbuild/protobuf';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { refusedInDemo } from '#lib/errors/errors.ts';
import type { Authorization } from '#lib/rpc/client/transport.ts';
import { idempotencyKeyFault, isIdempotencyKey } from '#lib/rpc/idempotency-key.ts';
import { requestIdHeader } from '#lib/rpc/request-id.ts';
import { clientAddressHeader, clientAddressTokenHeader } from '#lib/rpc/wire.ts';
import type { RequestAdmission } from '../admission/admission.ts';
import { bodyAnswer, type HttpAnswer, streamAnswer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import { passedOn } from '../http/limit-headers.ts';
import { methodNotAllowed } from '../http/refusal.ts';
import { jsonBody } from '../json/body.ts';
import type { CsvPlan } from './csv.ts';
import { answerCsv } from './csv-call.ts';
import { streamedPages } from './ndjson.ts';
import { decode, isCsv, readQuery, requireType } from './request.ts';
import type { Route } from './routes.ts';
import { requireToken, type VerifyToken } from './token.ts';

/** The parts that all operations share. */
export type Api = {
  transportFor: (service: string) => Transport;
  verifyToken: VerifyToken;
  /** The gateway's own token. */
  authorization: Authorization;
  demoMode: boolean;
  admission: RequestAdmission;
  callTimeoutMs: number;
};

/** Answers an operation. Callers rely on the order of the checks. */
export async function answerOperation(
  api: Api,
  routesAtPath: readonly Route[],
  exchange: Exchange,
): Promise<HttpAnswer> {
  const { request } = exchange;
  const { admission } = api;
  const route = routeFor(routesAtPath, request.method);
  admission.countAddress(exchange);
  if (!route.isPublic) {
    const { authorization } = request.headers;
    const { clientAddress } = exchange;
    exchange.caller = await requireToken(api.verifyToken, { authorization, clientAddress });
    admission.countCaller(exchange);
  }
  if (api.demoMode && route.refusedInDemo) throw refusedInDemo();
  if (!answers(route, request.method)) {
    throw methodNotAllowed(allowed(routesAtPath));
  }
  if (route.csv && isCsv(request)) return answerFile(api, { route, plan: route.csv }, exchange);
  if (route.verb === 'GET') admission.begin(exchange);
  const body = route.verb === 'GET' ? undefined : await readBody(api, route, exchange);
  await admission.takePlace(exchange);
  const endTurn = await admission.takeTurn(exchange, body?.length ?? 0);
  try {
    return await call(api, route, exchange, body);
  } finally {
    endTurn();
  }
}

async function call(
  api: Api,
  route: Route,
  exchange: Exchange,
  body: Buffer | undefined,
): Promise<HttpAnswer> {
  const message = body ? await decode(route, exchange, body) : readQuery(route, exchange.query);
  const ask = await callerOf(api, route, exchange);
  const answer = await ask(message);
  if (route.paging) {
    // Errors of the first page are answers like any other.
    api.admission.beginStream(exchange);
    const first = { request: message, page: answer.message };
    const read = async (request: Message) => (await ask(request)).message;
    const { contentType } = route.paging.formOf(message);
    return streamAnswer(contentType, streamedPages(route.paging, first, read));
  }
  const text = await jsonBody(route.encode(answer.message));
  return bodyAnswer(route.successStatus, text, passedOn(answer.header));
}

/**
 * The JSON of an operation that the answer to another request needs. It is counted and checked as
 * a request of its own, in the place that the other one has.
 */
export async function callFor(
  api: Api,
  route: Route,
  exchange: Exchange,
  fields: Record<string, unknown>,
): Promise<unknown> {
  api.admission.countAddress(exchange);
  api.admission.countCaller(exchange);
  if (api.demoMode && route.refusedInDemo) throw refusedInDemo();
  const message =
    route.verb === 'GET' ? readQuery(route, queryOf(fields)) : await route.decodeBody(fields);
  const ask = await callerOf(api, route, exchange);
  return route.encode((await ask(message)).message);
}

function queryOf(fields: Record<string, unknown>): URLSearchParams {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, String(each)]),
  );
  return new URLSearchParams(pairs);
}

/** Calls the operation in the name of the caller. */
async function callerOf(api: Api, route: Route, exchange: Exchange) {
  const headers = forwardedHeaders(exchange);
  // Services trust `x-client-address` only with the gateway's token. Other operations need the
  // caller's own token as well.
  headers[route.isPublic ? 'authorization' : clientAddressTokenHeader] = await api.authorization();
  const transport = api.transportFor(route.service);
  return (request: Message) =>
    transport.unary(route.method, exchange.signal, api.callTimeoutMs, headers, request);
}

/** Answers with what became of the rows of a CSV file. Its limits are per batch. */
function answerFile(
  api: Api,
  target: { route: Route; plan: CsvPlan },
  exchange: Exchange,
): Promise<HttpAnswer> {
  const { route } = target;
  requireType(route, exchange.request);
  return answerCsv(api.admission, target, exchange, async (request) => {
    // The gateway's own token lasts shorter than a long import.
    const ask = await callerOf(api, route, exchange);
    return (await ask(request)).message;
  });
}

/** The verbs that a path answers, for `Allow`. */
export function allowed(routesAtPath: readonly Route[]): string {
  const verbs = routesAtPath.flatMap(({ verb }) => (verb === 'GET' ? ['GET', 'HEAD'] : [verb]));
  return [...verbs, 'OPTIONS'].join(', ');
}

function answers(route: Route, verb: string | undefined): boolean {
  return route.verb === (verb === 'HEAD' ? 'GET' : verb);
}

/** The route of a verb. A wrong verb is checked by the rules of another route of its path. */
export function routeFor(routesAtPath: readonly Route[], verb: string | undefined): Route {
  const route = routesAtPath.find((candidate) => answers(candidate, verb)) ?? routesAtPath[0];
  if (!route) throw new Error('a path without routes');
  return route;
}

async function readBody({ admission }: Api, route: Route, exchange: Exchange): Promise<Buffer> {
  const { request } = exchange;
  const { bodyLimitBytes } = route;
  const announcedBytes = Number(request.headers['content-length'] ?? 0);
  // The size is checked before the type.
  if (announcedBytes <= bodyLimitBytes) requireType(route, request);
  return admission.readBody(exchange, bodyLimitBytes);
}

function forwardedHeaders({ request, id, clientAddress }: Exchange): Record<string, string> {
  const headers: Record<string, string> = {
    [requestIdHeader]: id,
    [clientAddressHeader]: clientAddress,
  };
  const { authorization, 'idempotency-key': key } = request.headers;
  if (authorization !== undefined) headers.authorization = authorization;
  if (key === undefined) return headers;
  if (!isIdempotencyKey(key)) throw new ConnectError(idempotencyKeyFault, Code.InvalidArgument);
  headers['idempotency-key'] = key;
  return headers;
}
