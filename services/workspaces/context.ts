import type { ServiceImpl } from '@connectrpc/connect';
import type {
  UserService,
  WorkspaceDirectoryService,
  WorkspaceService,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
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

/** What the operations of this service implement, by RPC. */
export type Methods = ServiceImpl<typeof WorkspaceDirectoryService> &
  ServiceImpl<typeof WorkspaceService> &
  ServiceImpl<typeof UserService>;
