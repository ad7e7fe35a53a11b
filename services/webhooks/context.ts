import { type Client, createClient, type ServiceImpl } from '@connectrpc/connect';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import type { EventConsumerService } from '#gen/postrider/events/v1/events_pb.ts';
import { SystemMailService } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { WebhookListenerService } from '#gen/postrider/webhooks/v1/listeners_pb.ts';
import type { WebhookSubscriptionService } from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { openProducers, type Producers } from '#lib/events/interest-pushes.ts';
import { createEgress } from '#lib/outside/egress.ts';
import type { Base } from '#lib/process/run-service.ts';
import { Quotas } from '#lib/quotas/quotas.ts';
import { Backlog } from './backlog/backlog.ts';
import { limitsOf } from './backlog/limits.ts';
import type { Config } from './config.ts';
import type { Notifying } from './lifecycle/owner-mail.ts';
import type { AudienceReader } from './matching/members.ts';
import type { SendingContext } from './sending/attempt.ts';
import { Dispatcher } from './sending/dispatcher.ts';
import { measureDeliveries } from './sending/metrics.ts';
import { Pool } from './sending/pool.ts';
import { AttemptRecorder } from './sending/recorder.ts';
import { counts, openWebhooksStore } from './store.ts';

/** The dependencies of operations, tasks and activities. */
export type Context = SendingContext & {
  /** Makes first attempts once it is started. */
  dispatcher: Dispatcher;
  backlog: Backlog;
  producers: Producers;
  audience: AudienceReader;
  workspaces: Notifying['workspaces'] &
    Pick<Client<typeof WorkspaceDirectoryService>, 'getSettings'>;
  quotas: Quotas;
  systemMail: Notifying['systemMail'];
};

export async function openContext(base: Base, config: Config): Promise<Context> {
  const store = await openWebhooksStore(config.databaseUrl, config.databaseConnections);
  const workspaces = createClient(WorkspaceDirectoryService, base.peer('workspaces'));
  const clocks = { now: () => new Date(), databaseTime: () => undefined };
  const sending: SendingContext = {
    store,
    ...clocks,
    keyring: base.keyring,
    log: base.log,
    egress: createEgress(config.egress),
    recorder: new AttemptRecorder({ ...clocks, store, log: base.log }),
    retryPlaces: new Pool(),
  };
  measureDeliveries(sending);
  const quotas = new Quotas({ store, workspaces, counts, log: base.log });
  return {
    ...sending,
    dispatcher: new Dispatcher(sending),
    backlog: new Backlog(sending, (id) => limitsOf(quotas, id, config.pendingMax)),
    producers: openProducers('webhooks', base.peer),
    audience: createClient(AudienceService, base.peer('contacts')),
    workspaces,
    quotas,
    systemMail: createClient(SystemMailService, base.peer('messages')),
  };
}

/** The handlers of this service, by RPC. */
export type Methods = ServiceImpl<typeof WebhookSubscriptionService> &
  ServiceImpl<typeof WebhookListenerService> &
  ServiceImpl<typeof EventConsumerService>;
