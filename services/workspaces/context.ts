import type { Keyring } from '#lib/keys/keyring.ts';
import type { Egress } from '#lib/outside/egress.ts';
import type { Store } from '#lib/postgres/store.ts';

/** What the operations of this service may use. */
export type Context = {
  store: Store;
  keyring: Keyring;
  egress: Egress;
  now: () => Date;
  /** Addresses that may sign in as root, in lower case. */
  rootEmails: readonly string[];
  /** Base of links in mails where a workspace has none of its own. */
  publicUrl: string;
};
