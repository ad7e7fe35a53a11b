import type { Client, ServiceImpl } from '@connectrpc/connect';
import type { TemplateBlockService } from '#gen/postrider/templates/v1/blocks_pb.ts';
import type {
  TemplateContentService,
  TemplateService,
  TemplateUseService,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import type { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Quotas } from '#lib/quotas/quotas.ts';
import type { Compiler } from './compile/compiler.ts';

/** The dependencies of this service's operations. */
export type Context = {
  store: Store;
  now: () => Date;
  compiler: Compiler;
  workspaces: Pick<Client<typeof WorkspaceDirectoryService>, 'getSettings'>;
  quotas: Quotas;
};

/** The signature of each operation, by RPC. */
export type Methods = ServiceImpl<typeof TemplateContentService> &
  ServiceImpl<typeof TemplateService> &
  ServiceImpl<typeof TemplateBlockService> &
  ServiceImpl<typeof TemplateUseService>;
