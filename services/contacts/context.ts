import type { Store } from '#lib/store.ts';

/** What the operations of this service may use. */
export type Context = {
  store: Store;
  now: () => Date;
};
