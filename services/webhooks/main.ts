import { runService } from '#lib/process/run-service.ts';
import { connectTemporal } from '#lib/temporal/client.ts';
import { readConfig } from './config.ts';
import { openContext } from './context.ts';
import { addPush } from './interests/interests.ts';
import { Dispatcher } from './sending/dispatcher.ts';
import { services, webhooksRoutes } from './service.ts';
import { checkRuns } from './tasks/check-runs.ts';
import { addClearing, clearDeliveries } from './tasks/clear-deliveries.ts';
import { forgetDeliveries } from './tasks/forget-deliveries.ts';
import { pushInterests } from './tasks/push-interests.ts';
import { tellOwners } from './tasks/tell-owners.ts';
import { wake } from './tasks/wake.ts';

await runService(readConfig, async (base, config) => {
  const shared = await openContext(base, config);
  const dispatcher = new Dispatcher(shared);
  const context = { ...shared, dispatcher };
  const temporal = connectTemporal(config.temporal);
  return {
    store: context.store,
    services,
    routes: webhooksRoutes(context),
    tasks: {
      pushInterests: pushInterests(context, base),
      forgetDeliveries: forgetDeliveries(context),
      clearDeliveries: clearDeliveries(context, base),
      wake: wake({ ...context, temporal }),
      checkRuns: checkRuns(context),
      tellOwners: tellOwners(context, base),
    },
    minutely: ['checkRuns'],
    async prepare() {
      await addPush(context.store.fork(), {});
      await addClearing(context.store.fork(), 0);
      dispatcher.start();
    },
    async close() {
      await dispatcher.stop();
      await temporal.connection.close();
      await context.egress.close();
    },
  };
});
