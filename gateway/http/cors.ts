import type { ServerResponse } from 'node:http';
import { passedOnNames } from './limit-headers.ts';

// The longest that a browser caches a preflight.
const preflightSeconds = 7_200;
const exposed = ['x-request-id', 'retry-after', ...passedOnNames].join(', ');

/** Lets pages of any site read an answer. Without credentials, since there are no cookies. */
export function fromAnySite(response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-expose-headers', exposed);
}

/** The verb and the headers that pages of other sites may use. */
export function preflightHeaders(verb: string): Record<string, string> {
  return {
    'access-control-allow-methods': verb,
    'access-control-allow-headers':
      'authorization, content-type, idempotency-key, prefer, x-request-id',
    'access-control-max-age': preflightSeconds.toString(),
  };
}
