import { AsyncResource } from 'node:async_hooks';
import type { Http2Session } from 'node:http2';
import { types } from 'node:util';
import { PassingMap } from '#lib/collections/passing-map.ts';

type Tables = {
  streams: Map<number, unknown>;
  pendingStreams: Pick<Set<unknown>, 'size' | 'delete'>;
};

/**
 * Lets a session's streams go when they end. Node keeps them in a `Map` and a `Set`, which keep all
 * that were ever in them alive until a full collection: see `PassingMap`. A session of a Node that
 * has other tables stays as it is.
 */
export function forgetStreams(session: Http2Session): void {
  const tables = tablesOf(session);
  if (!tables || tables.streams.size > 0 || tables.pendingStreams.size > 0) return;
  tables.streams = new PassingMap();
  tables.pendingStreams = new PassingSet();
}

function tablesOf(session: Http2Session): Tables | undefined {
  const state = stateOf(session);
  if (typeof state !== 'object' || state === null) return undefined;
  return 'streams' in state &&
    types.isMap(state.streams) &&
    'pendingStreams' in state &&
    types.isSet(state.pendingStreams)
    ? (state as Tables)
    : undefined;
}

/** Node's private state of a session; undefined where another Node keeps it elsewhere. */
export function stateOf(session: Http2Session): unknown {
  const symbols = Object.getOwnPropertySymbols(session);
  const symbol = symbols.find(({ description }) => description === 'state');
  return symbol && Reflect.get(session, symbol);
}

class PassingSet {
  readonly #items = new PassingMap<unknown, unknown>();

  get size(): number {
    return this.#items.size;
  }

  add(item: unknown): this {
    this.#items.set(item, item);
    return this;
  }

  delete(item: unknown): boolean {
    return this.#items.delete(item);
  }

  forEach(visit: (item: unknown) => void): void {
    for (const item of this.#items.keys()) visit(item);
  }
}

/**
 * Makes `AsyncResource.bind` cheap for the whole process: Node's client binds a function for each
 * request. Node gives each a deprecated property with accessors of its own, and so a hidden class
 * of its own, which keeps the request alive until a full collection. Without that property here.
 */
export function lightenBind(): void {
  AsyncResource.prototype.bind = function bind<Bound extends (...args: never[]) => unknown>(
    this: AsyncResource,
    bound: Bound,
    thisArg?: unknown,
  ) {
    const run = (that: unknown, args: unknown[]) =>
      Reflect.apply(this.runInAsyncScope, this, [bound, that, ...args]);
    return function runBound(this: unknown, ...args: unknown[]) {
      return run(thisArg === undefined ? this : thisArg, args);
    } as never;
  };
}
