import { createClient } from '@connectrpc/connect';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { servicePart } from '#lib/process/run-service.ts';
import { Quotas } from '#lib/quotas/quotas.ts';
import { createCompiler } from './compile/compiler.ts';
import { readConfig } from './config.ts';
import { services, templatesRoutes } from './service.ts';
import { counts, openTemplatesStore } from './store.ts';

export const part = servicePart(readConfig, async (base, { databaseUrl, databaseConnections }) => {
  const store = await openTemplatesStore(databaseUrl, databaseConnections);
  const compiler = createCompiler();
  const workspaces = createClient(WorkspaceDirectoryService, base.peer('workspaces'));
  const quotas = new Quotas({ store, workspaces, counts, log: base.log });
  const context = { store, now: () => new Date(), compiler, workspaces, quotas };
  return {
    store,
    services,
    routes: templatesRoutes(context),
    tasks: {},
    close: () => compiler.close(),
  };
});
