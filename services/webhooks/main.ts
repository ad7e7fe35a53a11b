import { pushInterests, startInterests } from '#lib/events/interest-pushes.ts';
import { servicePart } from '#lib/process/run-service.ts';
import { connectTemporal } from '#lib/temporal/client.ts';
import { readConfig } from './config.ts';
import { openContext } from './context.ts';
import { interests } from './interests/interests.ts';
import { sealedColumns } from './kept-data.ts';
import { services, webhooksRoutes } from './service.ts';
import { checkRuns } from './tasks/check-runs.ts';
import { clearDeliveries } from './tasks/clear-deliveries.ts';
import { erasePerson } from './tasks/erase-person.ts';
import { failDeliveries } from './tasks/fail-deliveries.ts';
import { forgetDeliveries } from './tasks/forget-deliveries.ts';
import { notifyOfBacklog } from './tasks/notify-of-backlog.ts';
import { notifyOwners } from './tasks/notify-owners.ts';
import { tendListeners } from './tasks/tend-listeners.ts';
import { wake } from './tasks/wake.ts';

export const part = servicePart(readConfig, async (base, config) => {
  const context = await openContext(base, config);
  const temporal = connectTemporal(config.temporal);
  const clearing = clearDeliveries(context, base.log);
  return {
    store: context.store,
    services,
    routes: webhooksRoutes(context),
    sealed: sealedColumns(base.keyring),
    tasks: {
      pushInterests: pushInterests(interests, context.producers, context),
      failDeliveries: failDeliveries(context),
      forgetDeliveries: forgetDeliveries(context),
      clearDeliveries: clearing.task,
      erasePerson: erasePerson(context),
      wake: wake({ ...context, temporal }),
      checkRuns: checkRuns(context),
      tendListeners: tendListeners(context),
      notifyOwners: notifyOwners(context, base),
      notifyOfBacklog: notifyOfBacklog(context, base),
    },
    minutely: ['checkRuns', 'tendListeners'],
    async prepare() {
      await startInterests(interests, context.store.fork());
      await clearing.start(context.store.fork());
      context.dispatcher.start();
    },
    close: async () => {
      await context.dispatcher.stop();
      await context.backlog.settled();
      await temporal.connection.close();
      await context.egress.close();
    },
  };
});
