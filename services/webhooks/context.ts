import type { Client, ServiceImpl } from '@connectrpc/connect';
import type { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import type { EventConsumerService } from '#gen/postrider/events/v1/events_pb.ts';
import type { WebhookSubscriptionService } from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import type { SendingContext } from './sending/attempt.ts';
import type { Dispatcher } from './sending/dispatcher.ts';

/** The dependencies of operations, tasks and activities. */
export type Context = SendingContext & {
  dispatcher: Pick<Dispatcher, 'poke'>;
  audience: Pick<Client<typeof AudienceService>, 'matchMembers'>;
};

/** The handlers of this service, by RPC. */
export type Methods = ServiceImpl<typeof WebhookSubscriptionService> &
  ServiceImpl<typeof EventConsumerService>;
