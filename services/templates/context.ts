import type { Client } from '@connectrpc/connect';
import type { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Compiler } from './compile/compiler.ts';

/** What the operations of this service may use. */
export type Context = {
  store: Store;
  now: () => Date;
  compiler: Compiler;
  workspaces: Pick<Client<typeof WorkspaceDirectoryService>, 'getSettings'>;
};
