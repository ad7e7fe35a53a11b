import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

export const requestIdHeader = 'x-request-id';
/** Nothing that means something in a log, a page or a header. */
const validId = /^[A-Za-z0-9._-]{1,64}$/;
const requestIds = new AsyncLocalStorage<string>();

/** The id that a caller sent if it is valid, else a new one. */
export function requestIdFrom(given: unknown): string {
  return typeof given === 'string' && validId.test(given) ? given : randomUUID();
}

/** Runs the work of a request; `currentRequestId` returns its id in everything that it calls. */
export function inRequest<T>(requestId: string, run: () => T): T {
  return requestIds.run(requestId, run);
}

/**
 * The id of the current request. Calls to other services send it, so that logs can be correlated.
 */
export function currentRequestId(): string | undefined {
  return requestIds.getStore();
}
