import { required } from '#lib/config.ts';
import { runService } from '#lib/process/run-service.ts';

import { openContext } from './context.ts';
import { connectTemporal } from './lifecycle/temporal.ts';
import { broadcastsRoutes, services } from './service.ts';
import { forgetRecipients } from './tasks/forget-recipients.ts';
import { wakeTask } from './tasks/wake.ts';

await runService('broadcasts', async (base) => {
  const context = await openContext(base);
  const temporal = connectTemporal(
    required(base.env, 'TEMPORAL_ADDRESS'),
    base.env.TEMPORAL_NAMESPACE,
  );
  return {
    store: context.store,
    services,
    routes: broadcastsRoutes(context),
    tasks: {
      wake: wakeTask({ temporal, store: context.store, log: base.log }),
      forgetRecipients: forgetRecipients(context),
    },
    close: async () => {
      await temporal.connection.close();
      await context.egress.close();
    },
  };
});
