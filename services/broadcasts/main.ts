import { pushAllTemplateUses, pushTemplateUses } from '#lib/jobs/template-uses.ts';
import { servicePart } from '#lib/process/run-service.ts';
import { connectTemporal } from '#lib/temporal/client.ts';
import { readConfig } from './config.ts';
import { openContext } from './context.ts';
import { sealedColumns } from './kept-data.ts';
import { broadcastsRoutes, services } from './service.ts';
import { checkRuns } from './tasks/check-runs.ts';
import { forgetRecipients } from './tasks/forget-recipients.ts';
import { wake } from './tasks/wake.ts';
import { broadcastUses, liveBroadcasts } from './variations/template-uses.ts';

export const part = servicePart(readConfig, async (base, config) => {
  const context = await openContext(base, config);
  const temporal = connectTemporal(config.temporal);
  return {
    store: context.store,
    services,
    routes: broadcastsRoutes(context),
    sealed: sealedColumns(base.keyring),
    tasks: {
      wake: wake({ temporal, store: context.store, log: base.log }),
      forgetRecipients: forgetRecipients(context),
      checkRuns: checkRuns(context, { temporal, log: base.log }),
      pushTemplateUses: pushTemplateUses({ ...context, usesOf: broadcastUses }),
      pushAllTemplateUses: pushAllTemplateUses(context.store, {
        kind: 'broadcast',
        usersSql: liveBroadcasts,
      }),
    },
    minutely: ['checkRuns'],
    close: async () => {
      await temporal.connection.close();
      await context.egress.close();
    },
  };
});
