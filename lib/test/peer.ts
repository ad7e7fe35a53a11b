import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { createLog } from '#lib/log.ts';
import { serve } from '#lib/rpc/server/serve.ts';
import { keyring, ownerEverywhere } from '../../test/setup/service.ts';

/** A service in a process of its own, which a test may freeze. It sends its port to its parent. */
const server = await serve(
  {
    services: [AudienceService],
    routes: (router) => router.service(AudienceService, { listAudience: () => ({}) }),
    keyring,
    authorize: ownerEverywhere,
    demo: false,
    reflection: true,
    log: createLog('peer', 'silent'),
    isReady: async () => true,
  },
  { host: '127.0.0.1', port: 0 },
);
process.send?.(server.port);
// Ends with the process of the test.
process.on('disconnect', () => process.exit(0));
