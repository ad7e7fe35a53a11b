import { create, type JsonObject, type MessageInitShape } from '@bufbuild/protobuf';
import { TimestampSchema, timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  FindWelcomesResponseSchema,
  ListWelcomingListsResponseSchema,
  ResolveRecipientsResponseSchema,
  UnsubscribeRecipientResponseSchema,
  UpsertRecipientsResponseSchema,
} from '#gen/postrider/contacts/v1/audience_pb.ts';
import { GetListResponseSchema } from '#gen/postrider/contacts/v1/lists_pb.ts';
import {
  ConfirmSubscriptionResponseSchema,
  GetSubscriberResponseSchema,
  UpdateSubscriberResponseSchema,
} from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import {
  BatchGetTemplatesResponseSchema,
  GetTemplateContentResponseSchema,
  SetTemplateUsesResponseSchema,
  TemplateCategory,
  TemplateChannel,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import {
  type EmailProvider,
  FindSenderResponseSchema,
  GetIntegrationResponseSchema,
  GetSettingsResponseSchema,
  ListSendingDomainsResponseSchema,
  type SenderSchema,
  type SendingDomainSchema,
  type WarmUpSchema,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { TemplateUseClient } from '#lib/jobs/template-uses.ts';
import type { Contacts, Templates, TestData, Workspaces } from '../peers.ts';

/** The answers of the other services; tests change them. */
export type World = {
  /** Of every workspace, where they differ from the defaults. */
  quotas: Record<string, bigint>;
  content: MessageInitShape<typeof GetTemplateContentResponseSchema>;
  /** Templates that do not exist. */
  missingTemplates: Set<string>;
  /** Templates by what uses them. */
  templateUses: Map<string, readonly string[]>;
  beforeUse: (() => Promise<void>) | undefined;
  /** By language; only the fields that differ from `content`. */
  translations: Map<string, World['content']>;
  /** Of every integration. */
  kind: string;
  /** Settings of kinds other than smtp, in fields with their names. */
  provider: object;
  perMinute: number;
  warmUp: MessageInitShape<typeof WarmUpSchema> | undefined;
  unknownRetries: number;
  port: number;
  /** Whether the server delivers to the receivers itself. */
  isDirect: boolean;
  /** Senders of every integration beside the two that all have. */
  senders: MessageInitShape<typeof SenderSchema>[];
  /** Integrations by the address of a sender that no other one has. */
  otherSenders: Map<string, string>;
  /** Of kinds other than smtp. */
  settings: Partial<
    Pick<
      EmailProvider,
      'ses' | 'sparkpost' | 'postmark' | 'mailgun' | 'mailjet' | 'sendgrid' | 'brevo' | 'resend'
    >
  >;
  /** By address; an address without a reason may get mail. */
  skipReasons: Map<string, string>;
  /** Fields by address. */
  fields: Map<string, Record<string, unknown>>;
  /** Addresses that belong to no contact. */
  unknownContacts: Set<string>;
  includeUnsubscribed: boolean[];
  unsubscribed: { listId: string; email: string; happenedAt?: string }[];
  confirmed: { listId: string; email: string }[];
  updates: Record<string, unknown>[];
  /** Subscribers by address; no other address is a contact. */
  subscribers: Map<string, MessageInitShape<typeof GetSubscriberResponseSchema>>;
  /** The template of every list's confirmation mail; empty for none. */
  optinTemplate: string;
  marketingProvider: string;
  transactionalProvider: string;
  /** Of every template; undefined if there is none. */
  testData: JsonObject | undefined;
  /** The welcome of every list; undefined for none. */
  welcome: { notificationId: string } | undefined;
  /** Every list was deleted. */
  hasNoLists: boolean;
  findingWelcomes: (() => Promise<void>) | undefined;
  /** When memberships became active, by address; any time fits where there is none. */
  activeSince: Map<string, Date>;
  /** Lists that welcome by any notification. */
  welcomingLists: string[];
  /** Contacts upserted for transactional mail, in turn. */
  upserted: { email: string; mayChange: boolean }[];
  /** How often contacts was asked to upsert. */
  asked: number;
  isTracked: boolean;
  contentDays: number;
  messageDays: number;
  resolving: (() => Promise<void>) | undefined;
  /** Of every workspace. */
  domains: MessageInitShape<typeof SendingDomainSchema>[];
  listingDomains: (() => Promise<void>) | undefined;
};

export const defaultContent: World['content'] = {
  version: 1,
  category: TemplateCategory.MARKETING,
  channel: TemplateChannel.EMAIL,
  subject: 'Hello {{ contact.first_name }}',
  html: '<p>Hi {{ contact.first_name }}</p><a href="{{ unsubscribe_url }}">leave</a>',
};

export function workspacesOf(world: World): Workspaces {
  return {
    listSendingDomains: async () => {
      const answer = create(ListSendingDomainsResponseSchema, { domains: world.domains });
      await world.listingDomains?.();
      return answer;
    },
    getSettings: async ({ workspaceId }) => {
      if (workspaceId === 'deleted') throw refusal('WORKSPACE_NOT_FOUND', 'Workspace not found');
      return create(GetSettingsResponseSchema, {
        name: 'Acme',
        settings: {
          customEndpointUrl: 'https://mail.example/',
          websiteUrl: 'https://acme.example',
          defaultLanguage: 'en',
          marketingEmailProviderId: world.marketingProvider,
          transactionalEmailProviderId: world.transactionalProvider,
          emailTrackingEnabled: world.isTracked,
          messageContentDays: world.contentDays,
          messageRetentionDays: world.messageDays,
        },
      });
    },
    findSender: async ({ email = '' }) =>
      create(FindSenderResponseSchema, { integrationId: world.otherSenders.get(email) }),
    getIntegration: async ({ integrationId: id }) => {
      if (id === 'deleted') throw refusal('INTEGRATION_NOT_FOUND', 'Integration not found');
      return create(GetIntegrationResponseSchema, {
        integration: {
          id,
          emailProvider: {
            ...world.provider,
            kind: world.kind,
            smtp: { host: '127.0.0.1', port: world.port, direct: world.isDirect },
            senders: [
              { id: 's1', email: 'news@sender.example', name: 'News', isDefault: true },
              { id: 's2', email: 'infos@sender.example', name: 'Infos' },
              ...world.senders,
              ...[...world.otherSenders]
                .filter(([, integrationId]) => integrationId === id)
                .map(([email]) => ({ id: email, email, name: 'Other' })),
            ],
            rateLimitPerMinute: world.perMinute,
            warmUp: world.warmUp,
            unknownRetries: world.unknownRetries,
            ...world.settings,
          },
        },
      });
    },
  };
}

export function templatesOf(world: World): Templates & TestData {
  return {
    batchGetTemplates: async ({ keys = [] }) => {
      const found = keys.map(({ id = '' }) => ({
        key: { id, version: 0 },
        template: { id, version: 1, testData: world.testData },
      }));
      return create(BatchGetTemplatesResponseSchema, {
        found: world.testData === undefined ? [] : found,
      });
    },
    getTemplateContent: async ({ id = '', language = '' }) => {
      if (world.missingTemplates.has(id)) {
        throw new ConnectError('Template not found', Code.NotFound);
      }
      return create(GetTemplateContentResponseSchema, {
        ...world.content,
        ...world.translations.get(language),
        languages: [...world.translations.keys()],
      });
    },
  };
}

export function templateUsesOf(world: World): TemplateUseClient {
  return {
    setTemplateUses: async ({ workspaceId, kind, id, templateIds = [] }) => {
      await world.beforeUse?.();
      const missing = templateIds.find((each) => world.missingTemplates.has(each));
      if (missing) throw new ConnectError(`template ${missing} not found`, Code.NotFound);
      world.templateUses.set(`${kind} ${workspaceId} ${id}`, templateIds);
      return create(SetTemplateUsesResponseSchema);
    },
  };
}

export function contactsOf(world: World): Contacts {
  return {
    resolveRecipients: async ({
      emails = [],
      fields = [],
      includeUnsubscribed = false,
      byHand,
      activeSince = [],
    }) => {
      await world.resolving?.();
      world.includeUnsubscribed.push(includeUnsubscribed);
      const recipients = emails.map((email, index) => {
        const asked = activeSince[index] && create(TimestampSchema, activeSince[index]);
        const since = world.activeSince.get(email);
        const isOther = asked && since && timestampDate(asked).getTime() !== since.getTime();
        const reason = world.skipReasons.get(email) ?? (isOther ? 'unsubscribed' : '');
        const isLetIn = reason === 'unsubscribed' && (includeUnsubscribed || byHand);
        if (world.unknownContacts.has(email)) return { skipReason: '', valuesJson: '' };
        const values = fields.map((field) => world.fields.get(email)?.[field] ?? null);
        return { skipReason: isLetIn ? '' : reason, valuesJson: JSON.stringify(values) };
      });
      return create(ResolveRecipientsResponseSchema, { recipients });
    },
    upsertRecipients: async ({ contacts = [], mayChange = false, fields = [] }) => {
      world.asked += 1;
      await world.resolving?.();
      const recipients = contacts.map(({ email: given = '', firstName }) => {
        const email = given.trim().toLowerCase();
        world.upserted.push({ email, mayChange });
        const error = world.skipReasons.get(email) ?? '';
        const known = { ...world.fields.get(email), ...(firstName && { first_name: firstName }) };
        const values = fields.map((field) => Reflect.get(known, field) ?? null);
        return { email, error, valuesJson: JSON.stringify(values) };
      });
      return create(UpsertRecipientsResponseSchema, { recipients });
    },
    listWelcomingLists: async () =>
      create(ListWelcomingListsResponseSchema, { names: world.welcomingLists }),
    findWelcomes: async ({ listIds = [] }) => {
      const at = timestampFromDate(new Date());
      await world.findingWelcomes?.();
      const { notificationId } = world.welcome ?? {};
      const some = world.hasNoLists || !notificationId ? [] : listIds;
      const lists = some.map((id) => ({ id, name: 'Weekly', notificationId }));
      return create(FindWelcomesResponseSchema, { lists, at });
    },
    unsubscribeRecipient: async ({ listId = '', email = '', happenedAt: at }) => {
      const happenedAt = at && timestampDate(create(TimestampSchema, at)).toISOString();
      world.unsubscribed.push({ listId, email, ...(happenedAt && { happenedAt }) });
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
