import type { IncomingMessage } from 'node:http';
import type { Message } from '@bufbuild/protobuf';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { BadRequestSchema } from '#gen/google/rpc/error_details_pb.ts';
import { invalidFields, refusedInDemo } from '#lib/errors/errors.ts';
import { isObject } from '#lib/json/text.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import type { WaitingLane } from '#lib/limits/lanes.ts';
import type { RequestLimits } from '#lib/limits/request-limits.ts';
import { giveTurn, largeMessageBytes } from '#lib/limits/turns.ts';
import { bearerToken, invalidToken, missingToken } from '#lib/rpc/bearer.ts';
import type { Authorization } from '#lib/rpc/client/transport.ts';
import { idempotencyKeyFault, isIdempotencyKey } from '#lib/rpc/idempotency-key.ts';
import { requestIdHeader } from '#lib/rpc/request-id.ts';
import { clientAddressHeader, clientAddressTokenHeader } from '#lib/rpc/wire.ts';
import { bodyAnswer, type HttpAnswer, streamAnswer } from '../http/answer.ts';
import type { ReadBody } from '../http/body.ts';
import type { Exchange } from '../http/exchange.ts';
import { passedOn } from '../http/passed-on.ts';
import { Refusal } from '../http/refusal.ts';
import type { Streams } from '../http/stream.ts';
import { jsonBody } from '../json/body.ts';
import { faultOf } from '../json/fault.ts';
import { parseJsonInTurns } from '../json/parse.ts';
import { unknownFields } from '../json/unknown.ts';
import { streamedPages } from './ndjson.ts';
import type { CallerPlaces } from './places.ts';
import type { Route } from './routes.ts';

/** The parts that all operations share. */
export type Api = {
  transportFor: (service: string) => Transport;
  verifyToken: (token: string, client: string) => Promise<Claims | undefined>;
  /** The gateway's own token. */
  authorization: Authorization;
  demoMode: boolean;
  readBody: ReadBody;
  /**
   * A request without a body is in progress from here on. Throws where its caller has no share
   * left.
   */
  begin: (exchange: Exchange) => void;
  streams: Streams;
  requestLimits: RequestLimits;
  /** Large bodies take turns, since nothing else runs while one is read. */
  largeBodies: WaitingLane;
  /**
   * A caller has few very large bodies in progress, from before they are read. They enter it where
   * they are read.
   */
  arrivingBodies: WaitingLane;
  callers: CallerPlaces;
  callTimeoutMs: number;
};

/** Answers an operation. Callers rely on the order of the checks. */
export async function answerOperation(
  api: Api,
  routesAtPath: readonly Route[],
  exchange: Exchange,
): Promise<HttpAnswer> {
  const { request } = exchange;
  const route = routeFor(routesAtPath, request.method);
  api.requestLimits.take('address', exchange.clientAddress);
  if (!route.isPublic) {
    const { authorization } = request.headers;
    const { clientAddress } = exchange;
    exchange.caller = await requireToken(api, { authorization, clientAddress });
    api.requestLimits.take('key', exchange.caller);
  }
  if (api.demoMode && route.refusedInDemo) throw refusedInDemo();
  if (!answers(route, request.method)) {
    throw new Refusal(405, 'method_not_allowed', 'Method not allowed', {
      allow: allowed(routesAtPath),
    });
  }
  if (route.verb === 'GET') api.begin(exchange);
  const body = route.verb === 'GET' ? undefined : await readBody(api, route, exchange);
  await takePlace(api, exchange);
  const leave = await takeTurn(api, exchange, body);
  try {
    return await call(api, route, exchange, body);
  } finally {
    leave();
  }
}

async function call(
  api: Api,
  route: Route,
  exchange: Exchange,
  body: Buffer | undefined,
): Promise<HttpAnswer> {
  const message = body ? await decode(route, exchange, body) : readQuery(route, exchange);
  const headers = forwardedHeaders(exchange);
  // Services trust `x-client-address` only with the gateway's token. Other operations need the
  // caller's own token as well.
  headers[route.isPublic ? 'authorization' : clientAddressTokenHeader] = await api.authorization();
  const transport = api.transportFor(route.service);
  const ask = (request: Message) =>
    transport.unary(route.method, exchange.signal, api.callTimeoutMs, headers, request);
  const answer = await ask(message);
  if (route.paging) {
    // Errors of the first page are answers like any other.
    api.streams.begin(exchange.response, exchange.request);
    const first = { request: message, page: answer.message };
    const read = async (request: Message) => (await ask(request)).message;
    return streamAnswer(route.paging.form.contentType, streamedPages(route.paging, first, read));
  }
  const text = await jsonBody(route.encode(answer.message));
  return bodyAnswer(route.successStatus, text, passedOn(answer.header));
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

export type GivenToken = { authorization: string | undefined; clientAddress: string };

/** The user or key of a caller. Throws where the header has no valid token of either. */
export async function requireToken(
  api: Pick<Api, 'verifyToken'>,
  { authorization, clientAddress }: GivenToken,
): Promise<string> {
  const { token, fault } = bearerToken(authorization);
  if (token === undefined) throw unauthenticated(fault);
  const claims = await api.verifyToken(token, clientAddress);
  // Services never call each other through the gateway, so a service's token here is stolen.
  if (!claims || claims.type === 'service') throw unauthenticated(invalidToken);
  return claims.subject;
}

function unauthenticated(text: string): Refusal {
  const reason = text === missingToken ? 'TOKEN_MISSING' : 'TOKEN_INVALID';
  const refused = new Refusal(401, 'unauthenticated', text, { 'www-authenticate': 'Bearer' });
  refused.failure.reason = reason;
  return refused;
}

/** A body that has not arrived takes no place: its client could keep it for as long as it likes. */
async function takePlace({ callers }: Api, exchange: Exchange): Promise<void> {
  const { caller, signal } = exchange;
  exchange.hold(await callers.enter(caller, signal, isStranger(exchange)));
}

/** Of an address without a token: a form has less. */
const strangersLargeBytes = 16 * 1024;

/** A place among large bodies, if this is one. Nobody has it while a client reads its answer. */
async function takeTurn(
  { largeBodies, arrivingBodies }: Api,
  exchange: Exchange,
  body: Buffer | undefined,
): Promise<() => void> {
  const { caller, signal } = exchange;
  largeBodies.noteCall(caller);
  arrivingBodies.noteCall(caller);
  const largeBytes = isStranger(exchange) ? strangersLargeBytes : largeMessageBytes;
  if (body && body.length > largeBytes) return largeBodies.enter(caller, signal);
  return () => {};
}

const isStranger = ({ caller, clientAddress }: Exchange) => caller === clientAddress;

function readQuery(route: Route, { query }: Exchange): Message {
  const message = route.decodeQuery(query);
  refuseUnknown('query parameter', unknownFilters(route, query).slice(0, 20));
  return message;
}

/**
 * Without its misspelled filter, a list would be of everything. Clients send `workspace_id` with
 * all that they ask.
 */
function unknownFilters({ queryNames }: Route, query: URLSearchParams): string[] {
  if (queryNames.size === 0) return [];
  return [...query.keys()]
    .filter((name) => !queryNames.has(name) && name !== 'workspace_id')
    .map((name) => name.slice(0, 100));
}

async function readBody(api: Api, route: Route, exchange: Exchange): Promise<Buffer> {
  const { request } = exchange;
  const announcedBytes = Number(request.headers['content-length'] ?? 0);
  // The size is checked before the type; a body of a wrong type is not read.
  if (announcedBytes <= route.bodyLimitBytes) requireJson(request);
  return api.readBody(exchange, route.bodyLimitBytes);
}

async function decode(route: Route, { request }: Exchange, body: Buffer): Promise<Message> {
  const json = await parseObject(body);
  await giveTurn(body.length);
  const message = await route.decodeBody(json);
  await giveTurn(body.length);
  if (isStrict(request)) refuseUnknown('field', unknownFields(route.method.input, json));
  return message;
}

/**
 * A client that asks for it (RFC 7240) is told of misspelled fields; to others they do not matter.
 */
function isStrict({ headers }: IncomingMessage): boolean {
  return /\bhandling\s*=\s*"?strict\b/i.test([headers.prefer ?? ''].flat().join());
}

function refuseUnknown(kind: 'field' | 'query parameter', names: readonly string[]): void {
  const [first, ...others] = names.map((field) => ({
    field,
    description: `unknown ${kind}: ${field}`,
  }));
  if (first) throw invalidFields([first, ...others]);
}

const jsonType = /^application\/(?:[a-z0-9.!#$&^_-]+\+)?json\s*(?:;|$)/i;
const otherCharset = /;\s*charset\s*=\s*(?!"?utf-?8"?\s*(?:;|$))/i;

function requireJson({ headers }: IncomingMessage): void {
  const type = headers['content-type'];
  if (type !== undefined && (!jsonType.test(type) || otherCharset.test(type))) {
    throw new Refusal(415, 'unsupported_media_type', 'Content-Type must be application/json');
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new Refusal(415, 'unsupported_media_type', 'Content-Encoding is not supported');
  }
}

async function parseObject(body: Buffer): Promise<Record<string, unknown>> {
  try {
    const json = await parseJsonInTurns(body);
    if (isObject(json)) return json;
  } catch {
    // The parser's error quotes the body, which may hold personal data.
  }
  const fieldViolations = [{ field: '', description: faultOf(body) }];
  throw new ConnectError('Invalid request body', Code.InvalidArgument, undefined, [
    { desc: BadRequestSchema, value: { fieldViolations } },
  ]);
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
