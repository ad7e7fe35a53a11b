import { pushInterests, startInterests } from '#lib/events/interest-pushes.ts';
import { consumerPeers, deliverEvents } from '#lib/events/outbox.ts';
import { pushAllTemplateUses, pushTemplateUses } from '#lib/jobs/template-uses.ts';
import { servicePart } from '#lib/process/run-service.ts';
import { connectTemporal } from '#lib/temporal/client.ts';
import { readConfig } from './config.ts';
import { openContext } from './context.ts';
import { messageInterests } from './segments/interests.ts';
import { Mover } from './segments/live/mover.ts';
import { contactsRoutes, services } from './service.ts';
import { listsWithTemplate, listUses } from './subscription/template-uses.ts';
import { beginBuilds } from './tasks/begin-builds.ts';
import { clearTimelines } from './tasks/clear-timelines.ts';
import { emptySegment } from './tasks/empty-segment.ts';
import { endMemberships } from './tasks/end-memberships.ts';
import { wake } from './tasks/wake.ts';

export const part = servicePart(readConfig, async (base, config) => {
  const context = await openContext(base, config);
  const { store } = context;
  const temporal = connectTemporal(config.temporal);
  const mover = new Mover(context);
  const clearing = clearTimelines(context, base.log);
  return {
    store,
    services,
    routes: contactsRoutes(context),
    deliverEvents: deliverEvents('contacts', consumerPeers('contacts', base.peerIfDeployed)),
    tasks: {
      endMemberships: endMemberships(context),
      clearTimelines: clearing.task,
      pushTemplateUses: pushTemplateUses({ ...context, usesOf: listUses }),
      pushAllTemplateUses: pushAllTemplateUses(store, {
        kind: 'list',
        usersSql: listsWithTemplate,
      }),
      pushMessageInterest: pushInterests(messageInterests, context.producers, context),
      emptySegment: emptySegment(context),
      beginBuilds: beginBuilds(context),
      wake: wake({ store, temporal, log: base.log }),
    },
    minutely: ['beginBuilds'],
    async prepare() {
      await startInterests(messageInterests, store.fork());
      await clearing.start(store.fork());
      mover.start();
    },
    close: async () => {
      await mover.stop();
      await temporal.connection.close();
    },
  };
});
