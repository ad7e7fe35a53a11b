import { createClient } from '@connectrpc/connect';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { servicePart } from '#lib/process/run-service.ts';
import { createCompiler } from './compile/compiler.ts';
import { readConfig } from './config.ts';
import { services, templatesRoutes } from './service.ts';
import { openTemplatesStore } from './store.ts';

export const part = servicePart(readConfig, async (base, { databaseUrl, databaseConnections }) => {
  const store = await openTemplatesStore(databaseUrl, databaseConnections);
  const compiler = createCompiler();
  const workspaces = createClient(WorkspaceDirectoryService, base.peer('workspaces'));
  const context = { store, now: () => new Date(), compiler, workspaces };
  return {
    store,
    services,
    routes: templatesRoutes(context),
    tasks: {},
    close: () => compiler.close(),
  };
});
