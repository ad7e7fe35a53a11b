import { list, required } from '#lib/config.ts';
import { createEgress } from '#lib/outside/egress.ts';
import { runService } from '#lib/process/run-service.ts';
import { authorizeLocally } from './operations/authorize.ts';
import { services, workspacesRoutes } from './service.ts';
import { openWorkspacesStore } from './store.ts';

await runService('workspaces', async ({ env, keyring, databaseUrl }) => {
  const store = await openWorkspacesStore(databaseUrl);
  const context = {
    store,
    keyring,
    egress: createEgress(list(env, 'EGRESS_ALLOW')),
    now: () => new Date(),
    rootEmails: list(env, 'ROOT_EMAIL').map((email) => email.toLowerCase()),
    publicUrl: required(env, 'PUBLIC_URL'),
  };
  return {
    store,
    services,
    routes: workspacesRoutes(context),
    tasks: {},
    authorize: authorizeLocally(context),
  };
});
