import {
  type DescFile,
  type DescMethod,
  type DescMethodUnary,
  getOption,
  hasOption,
  type Message,
} from '@bufbuild/protobuf';
import { http } from '#gen/google/api/annotations_pb.ts';
import { operation } from '#gen/postrider/options/v1/options_pb.ts';
import { turnsDecoderOf } from '../json/decode.ts';
import { bodyFieldEncoder, type EncodeValue, encoderOf } from '../json/encode.ts';
import { type CsvPlan, csvPlanOf } from './csv.ts';
import { type Paging, pagingOf } from './ndjson.ts';
import { type DecodeQuery, queryDecoder, queryNames } from './query.ts';

/** An operation of the public API, with everything that a request needs computed in advance. */
export type Route = {
  verb: 'GET' | 'POST';
  path: string;
  /** The name for logs, such as `postrider.contacts.v1.ListService.GetList`. */
  name: string;
  /** The process that serves it, such as `contacts`. */
  service: string;
  method: DescMethodUnary;
  isPublic: boolean;
  refusedInDemo: boolean;
  /** Whether browsers may call it from any site. */
  isCors: boolean;
  successStatus: number;
  bodyLimitBytes: number;
  failureText: string;
  decodeQuery: DecodeQuery;
  queryNames: ReadonlySet<string>;
  decodeBody: (json: unknown) => Promise<Message>;
  encode: EncodeValue;
  /** Present where all pages are the answer, as one stream. */
  paging: Paging | undefined;
  /** Present where a CSV file may be sent in place of JSON. */
  csv: CsvPlan | undefined;
};

/**
 * The limit of a body where the contract names none. Without a token anyone may send one, so it
 * must be cheap.
 */
export function bodyDefaultBytes(isPublic: boolean): number {
  return isPublic ? 64 * 1024 : 1024 * 1024;
}

/** The routes of all operations, by path. One path may serve several verbs. */
export function routesOf(files: readonly DescFile[]): Map<string, Route[]> {
  const routes = new Map<string, Route[]>();
  for (const file of files) {
    for (const method of file.services.flatMap((service) => service.methods)) {
      if (!hasOption(method, http)) continue;
      const route = routeOf(method);
      const routesAtPath = routes.get(route.path) ?? [];
      if (routesAtPath.some(({ verb }) => verb === route.verb)) {
        throw new Error(`two operations answer ${route.verb} ${route.path}`);
      }
      routes.set(route.path, [...routesAtPath, route]);
    }
  }
  return routes;
}

function routeOf(method: DescMethod): Route {
  const name = `${method.parent.typeName}.${method.name}`;
  if (!isUnary(method)) throw new Error(`${name}: only unary RPCs have a route`);
  const promise = getOption(method, operation);
  const rule = promise.access?.rule.case;
  // A missing rule must not make an operation public, nor may a route expose an internal one.
  if (!rule || rule === 'service')
    throw new Error(`${name}: a route needs an access rule for users`);
  return {
    ...verbAndPath(method),
    name,
    service: serviceOf(method),
    method,
    isPublic: rule === 'public',
    refusedInDemo: promise.refusedInDemo,
    isCors: promise.cors,
    successStatus: promise.successStatus || 200,
    bodyLimitBytes: promise.bodyLimitBytes || bodyDefaultBytes(rule === 'public'),
    failureText: promise.failureText || 'Internal server error',
    decodeQuery: queryDecoder(method.input),
    queryNames: queryNames(method.input),
    decodeBody: turnsDecoderOf(method.input),
    encode: promise.bodyField
      ? bodyFieldEncoder(method.output, promise.bodyField)
      : encoderOf(method.output),
    paging: pagingOf(method),
    csv: csvPlanOf(method),
  };
}

function isUnary(method: DescMethod): method is DescMethod & DescMethodUnary {
  return method.methodKind === 'unary';
}

function verbAndPath(method: DescMethod): Pick<Route, 'verb' | 'path'> {
  const { pattern, body } = getOption(method, http);
  if (pattern.case === 'get' && body === '') return { verb: 'GET', path: plainPath(pattern.value) };
  if (pattern.case === 'post' && body === '*')
    return { verb: 'POST', path: plainPath(pattern.value) };
  throw new Error(`${method.name}: a route is a get, or a post with body "*"`);
}

function plainPath(path: string): string {
  if (!/^\/[A-Za-z0-9./_-]+$/.test(path)) throw new Error(`${path} is not a plain path`);
  return path;
}

/** `postrider.contacts.v1` is served by the process `contacts`. */
function serviceOf(method: DescMethod): string {
  const [, service = ''] = method.parent.file.proto.package.split('.');
  return service;
}

/** The processes that serve at least one route. */
export function servicesOf(routes: ReadonlyMap<string, readonly Route[]>): Set<string> {
  return new Set([...routes.values()].flat().map(({ service }) => service));
}
