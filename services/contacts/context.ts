import type { Outbox } from '#lib/outbox.ts';
import type { Store } from '#lib/store.ts';
import type { IsProven } from './email-hmac.ts';

/** What the operations of this service may use. */
export type Context = {
  store: Store;
  outbox: Outbox;
  now: () => Date;
  isProven: IsProven;
};
