import { EventConsumerService } from '#gen/postrider/events/v1/events_pb.ts';
import { readEnv } from '#lib/config.ts';
import { readServiceKeys } from '#lib/keys/config.ts';
import { createKeyring } from '#lib/keys/keyring.ts';
import { createLog } from '#lib/log.ts';
import { serve } from '#lib/rpc/server/serve.ts';

/**
 * Stands in for webhooks: acknowledges every batch, and reports its counts to its parent on
 * request.
 */
const counts = { batches: 0, events: 0 };

const server = await serve(
  {
    services: [EventConsumerService],
    routes: (router) =>
      router.service(EventConsumerService, {
        consumeEvents({ events }) {
          counts.batches += 1;
          counts.events += events.length;
          return {};
        },
        consumeEventBatches({ batches }) {
          counts.batches += batches.length;
          for (const { events } of batches) counts.events += events.length;
          return { outcomes: batches.map(() => ({})) };
        },
      }),
    keyring: createKeyring(
      readEnv(process.env, (variables) => readServiceKeys(variables, 'webhooks')),
    ),
    authorize: async () => ({
      active: false,
      root: false,
      role: '',
      permissions: {},
      allowedAddresses: [],
    }),
    demo: false,
    log: createLog('consumer', 'warn'),
    reflection: true,
    isReady: async () => true,
  },
  { host: '127.0.0.1', port: 0 },
);
process.send?.(server.port);
process.on('message', () => process.send?.(counts));
// Exits when the benchmark dies.
process.on('disconnect', () => process.exit(0));
