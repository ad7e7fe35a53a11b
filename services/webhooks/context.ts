import type { ServiceImpl } from '@connectrpc/connect';
import type { EventConsumerService } from '#gen/postrider/events/v1/events_pb.ts';
import type { WebhookSubscriptionService } from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Store } from '#lib/postgres/store.ts';

/** The dependencies of operations, tasks and activities. */
export type Context = {
  store: Store;
  now: () => Date;
  keyring: Keyring;
};

/** The handlers of this service, by RPC. */
export type Methods = ServiceImpl<typeof WebhookSubscriptionService> &
  ServiceImpl<typeof EventConsumerService>;
