import type { IncomingMessage } from 'node:http';
import type { Message } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { BadRequestSchema } from '#gen/google/rpc/error_details_pb.ts';
import { invalidFields } from '#lib/errors/errors.ts';
import { isObject } from '#lib/json/text.ts';
import { giveTurn } from '#lib/limits/turns.ts';
import type { Exchange } from '../http/exchange.ts';
import { Refusal } from '../http/refusal.ts';
import { faultOf } from '../json/fault.ts';
import { parseJsonInTurns } from '../json/parse.ts';
import { unknownFields } from '../json/unknown.ts';
import type { Route } from './routes.ts';

/** The request that a query holds: that of a GET, or what goes with a CSV file. */
export function readQuery(route: Route, query: URLSearchParams): Message {
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

/** The request in a body. */
export async function decode(route: Route, { request }: Exchange, body: Buffer): Promise<Message> {
  const json = await parseObject(body);
  await giveTurn(body.length);
  const message = await route.decodeBody(json);
  await giveTurn(body.length);
  if (isStrict(request)) refuseUnknown('field', unknownFields(route.method.input, json));
  return message;
}

/** RFC 7240: with `handling=strict` an unknown field is an error; otherwise it is ignored. */
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

const csvType = /^text\/csv\s*(?:;|$)/i;

/** Whether the body is a CSV file, by what its client says. */
export function isCsv({ headers }: IncomingMessage): boolean {
  return csvType.test(headers['content-type'] ?? '');
}

/** A body of another type is refused before it is read. */
export function requireType({ csv }: Pick<Route, 'csv'>, { headers }: IncomingMessage): void {
  const type = headers['content-type'];
  const isKnown = type === undefined || jsonType.test(type) || (csv && csvType.test(type));
  if (!isKnown || otherCharset.test(type ?? '')) {
    const types = csv ? 'application/json or text/csv' : 'application/json';
    throw new Refusal(415, 'unsupported_media_type', `Content-Type must be ${types}`);
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new Refusal(415, 'unsupported_media_type', 'Content-Encoding is not supported');
  }
}

/** The object in a body. */
export async function parseObject(body: Buffer): Promise<Record<string, unknown>> {
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
