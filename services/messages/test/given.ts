import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, createRouterTransport } from '@connectrpc/connect';
import {
  ResolveRecipientsResponseSchema,
  UnsubscribeRecipientResponseSchema,
} from '#gen/postrider/contacts/v1/audience_pb.ts';
import { GetListResponseSchema } from '#gen/postrider/contacts/v1/lists_pb.ts';
import {
  ConfirmSubscriptionResponseSchema,
  GetSubscriberResponseSchema,
  UpdateSubscriberResponseSchema,
} from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { EventConsumerService } from '#gen/postrider/events/v1/events_pb.ts';
import {
  BroadcastSendService,
  MessageLinkService,
  MessageService,
  SendPlanSchema,
  TrackingService,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import {
  GetTemplateContentResponseSchema,
  TemplateCategory,
  TemplateChannel,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import {
  GetIntegrationResponseSchema,
  GetSettingsResponseSchema,
  type WarmUpSchema,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { openOutbox } from '#lib/jobs/outbox.ts';
import { createLog } from '#lib/log.ts';
import { createEgress } from '#lib/outside/egress.ts';
import { testStore } from '../../../test/setup/database.ts';
import { keyring, testTransport, userClaims } from '../../../test/setup/service.ts';
import { type Sink, startSink } from '../../../test/sink.ts';
import { createFeeds } from '../content/feeds.ts';
import { createPlans } from '../content/plans.ts';
import type { Context } from '../context.ts';
import type { Contacts, Templates, Workspaces } from '../peers.ts';
import { RenderThread } from '../render/thread.ts';
import { admissionLimits, createAdmission } from '../sending/admission.ts';
import { createPools } from '../sending/pools.ts';
import { createUnderway } from '../sending/underway.ts';
import { messagesRoutes } from '../service.ts';
import { openMessagesStore, openOutcomeStore } from '../store.ts';

/** What the other services say; tests change it. */
export type World = {
  content: MessageInitShape<typeof GetTemplateContentResponseSchema>;
  /** The template in other languages: what differs from its content. */
  translations: Map<string, World['content']>;
  perMinute: number;
  warmUp: MessageInitShape<typeof WarmUpSchema> | undefined;
  unknownRetries: number;
  port: number;
  /** By address; those who are not here may be sent to. */
  skipReasons: Map<string, string>;
  /** Fields by address. */
  fields: Map<string, Record<string, unknown>>;
  /** Addresses that are no contact's. */
  strangers: Set<string>;
  includeUnsubscribed: boolean[];
  unsubscribed: { listId: string; email: string }[];
  confirmed: { listId: string; email: string }[];
  updates: Record<string, unknown>[];
  /** What contacts say about a person by address; nobody else is a contact. */
  subscribers: Map<string, MessageInitShape<typeof GetSubscriberResponseSchema>>;
  /** The template of every list's confirmation mail; empty for none. */
  optinTemplate: string;
  marketingProvider: string;
  isTracked: boolean;
  resolving?: () => Promise<void>;
};

export const defaultContent: World['content'] = {
  version: 1,
  category: TemplateCategory.MARKETING,
  channel: TemplateChannel.EMAIL,
  subject: 'Hello {{ contact.first_name }}',
  html: '<p>Hi {{ contact.first_name }}</p><a href="{{ unsubscribe_url }}">leave</a>',
};

/** The service with a sink for a mail server and stand-ins for the other services. */
export async function givenService() {
  const store = await testStore(openMessagesStore);
  const outcomes = await openOutcomeStore(store.url);
  const sink = await startSink({ bodiesMax: 300 });
  const world: World = {
    content: defaultContent,
    translations: new Map(),
    perMinute: 10_000_000,
    warmUp: undefined,
    unknownRetries: 1,
    port: sink.port,
    skipReasons: new Map(),
    fields: new Map(),
    strangers: new Set(),
    includeUnsubscribed: [],
    unsubscribed: [],
    confirmed: [],
    updates: [],
    subscribers: new Map(),
    optinTemplate: '',
    marketingProvider: 'smtp-1',
    isTracked: false,
  };
  const peers = { store, workspaces: workspacesOf(world), templates: templatesOf(world) };
  const egress = createEgress(['127.0.0.0/8']);
  const newProcess = (over: Partial<Context> = {}) => {
    const context: Context = {
      store,
      outcomes,
      log: createLog('messages', 'silent'),
      outbox: openOutbox('messages', { contacts: createRouterTransport(() => {}) }),
      keyring,
      contacts: contactsOf(world),
      owner: crypto.randomUUID(),
      now: () => new Date(),
      plans: createPlans(peers),
      feeds: createFeeds({ egress, keyring }),
      pools: createPools(egress),
      thread: new RenderThread(),
      admission: createAdmission(admissionLimits),
      underway: createUnderway(),
      ...over,
    };
    const transport = testTransport(messagesRoutes(context));
    return {
      context,
      sender: createClient(BroadcastSendService, transport()),
      links: createClient(MessageLinkService, transport()),
      events: createClient(EventConsumerService, transport()),
      tracking: createClient(TrackingService, transport()),
      messages: createClient(MessageService, transport(userClaims())),
    };
  };
  const first = newProcess();
  return {
    ...first,
    store,
    sink,
    world,
    peers,
    newProcess,
    close: () => closeAll(store, sink, first.context),
  };
}

async function closeAll(store: Context['store'], sink: Sink, context: Context): Promise<void> {
  context.pools.close();
  await context.underway.drained(5_000);
  await context.outcomes.close();
  await context.thread.close();
  await sink.close();
  await store.close();
}

export type Given = Awaited<ReturnType<typeof givenService>>;

export const plan = create(SendPlanSchema, {
  templateId: 'news',
  templateVersion: 1,
  integrationId: 'smtp-1',
  listId: 'weekly',
  listName: 'Weekly',
  broadcastName: 'November',
});

let count = 0;

/** A request for a broadcast of its own. */
export function batchOf(emails: string[], over: Partial<typeof plan> = {}) {
  count += 1;
  return {
    workspaceId: 'w1',
    broadcastId: `b${count}`,
    plan: { ...plan, ...over, templateId: `t${count}` },
    emails,
  };
}

export const people = (size: number, prefix = 'p') =>
  Array.from({ length: size }, (_, index) => `${prefix}${index}@example.com`);

function workspacesOf(world: World): Workspaces {
  return {
    getSettings: async () =>
      create(GetSettingsResponseSchema, {
        name: 'Acme',
        settings: {
          customEndpointUrl: 'https://mail.example/',
          websiteUrl: 'https://acme.example',
          defaultLanguage: 'en',
          marketingEmailProviderId: world.marketingProvider,
          emailTrackingEnabled: world.isTracked,
        },
      }),
    getIntegration: async ({ integrationId: id }) =>
      create(GetIntegrationResponseSchema, {
        integration: {
          id,
          emailProvider: {
            kind: 'smtp',
            smtp: { host: '127.0.0.1', port: world.port },
            senders: [
              { id: 's1', email: 'news@sender.example', name: 'News', isDefault: true },
              { id: 's2', email: 'infos@sender.example', name: 'Infos' },
            ],
            rateLimitPerMinute: world.perMinute,
            warmUp: world.warmUp,
            unknownRetries: world.unknownRetries,
          },
        },
      }),
  };
}

function templatesOf(world: World): Templates {
  return {
    getTemplateContent: async ({ language = '' }) =>
      create(GetTemplateContentResponseSchema, {
        ...world.content,
        ...world.translations.get(language),
        languages: [...world.translations.keys()],
      }),
  };
}

function contactsOf(world: World): Contacts {
  return {
    resolveRecipients: async ({
      emails = [],
      fields = [],
      includeUnsubscribed = false,
      byHand,
    }) => {
      await world.resolving?.();
      world.includeUnsubscribed.push(includeUnsubscribed);
      const recipients = emails.map((email) => {
        const reason = world.skipReasons.get(email) ?? '';
        const isLetIn = reason === 'unsubscribed' && (includeUnsubscribed || byHand);
        if (world.strangers.has(email)) return { skipReason: '', valuesJson: '' };
        const values = fields.map((field) => world.fields.get(email)?.[field] ?? null);
        return { skipReason: isLetIn ? '' : reason, valuesJson: JSON.stringify(values) };
      });
      return create(ResolveRecipientsResponseSchema, { recipients });
    },
    unsubscribeRecipient: async ({ listId = '', email = '' }) => {
      world.unsubscribed.push({ listId, email });
      return create(UnsubscribeRecipientResponseSchema);
    },
    getList: async ({ id = '' }) => {
      const doubleOptinTemplate =
        world.optinTemplate === '' ? undefined : { id: world.optinTemplate };
      return create(GetListResponseSchema, { list: { id, name: 'Weekly', doubleOptinTemplate } });
    },
    getSubscriber: async ({ email = '' }) => {
      const subscriber = world.subscribers.get(email);
      if (!subscriber) throw new ConnectError('Contact not found', Code.NotFound);
      return create(GetSubscriberResponseSchema, subscriber);
    },
    confirmSubscription: async ({ listId = '', email = '' }) => {
      world.confirmed.push({ listId, email });
      return create(ConfirmSubscriptionResponseSchema);
    },
    updateSubscriber: async (changes) => {
      if (!world.subscribers.has(changes.email ?? '')) {
        throw new ConnectError('Contact not found', Code.NotFound);
      }
      world.updates.push(changes);
      return create(UpdateSubscriberResponseSchema);
    },
  };
}
