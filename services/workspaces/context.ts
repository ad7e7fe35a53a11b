import type { Egress } from '#lib/egress.ts';
import type { Store } from '#lib/store.ts';
import type { Keyring } from '#lib/tokens.ts';

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
