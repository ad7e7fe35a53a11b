import { runService } from '#lib/rpc/process.ts';
import { contactsRoutes, services } from './service.ts';
import { openContactsStore } from './store.ts';

await runService('contacts', async ({ databaseUrl }) => {
  const store = await openContactsStore(databaseUrl);
  const context = { store, now: () => new Date() };
  return { store, services, routes: contactsRoutes(context), tasks: {} };
});
