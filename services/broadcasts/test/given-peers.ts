import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  CountAudienceResponseSchema,
  ListAudienceResponseSchema,
  ListMissingSegmentsResponseSchema,
} from '#gen/postrider/contacts/v1/audience_pb.ts';
import { GetContactByEmailResponseSchema } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { GetListResponseSchema } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { ListUnopenedResponseSchema } from '#gen/postrider/messages/v1/facts_pb.ts';
import {
  GetHoldResponseSchema,
  PlaceHoldResponseSchema,
  ReleaseHoldResponseSchema,
} from '#gen/postrider/messages/v1/hold_pb.ts';
import {
  type GetBatchOutcomesRequest,
  GetBatchOutcomesResponseSchema,
  ListVariationStatsResponseSchema,
  type SendBatchRequest,
  type SendBatchResponse,
  SendBatchResponseSchema,
  type SendIndividualRequest,
  SendIndividualResponseSchema,
  type VariationStatsSchema,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import {
  GetBroadcastTimelineResponseSchema,
  ListBroadcastLinksResponseSchema,
} from '#gen/postrider/messages/v1/progress_pb.ts';
import {
  BatchGetTemplatesResponseSchema,
  GetTemplateContentResponseSchema,
  SetTemplateUsesResponseSchema,
  TemplateCategory,
  TemplateChannel,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import {
  GetIntegrationResponseSchema,
  GetSettingsResponseSchema,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { Peers } from '../peers.ts';

/** The answers of the other services; a test changes those that matter to it. */
export type PeerAnswers = {
  audience: string[];
  zoneOf: (email: string) => string;
  listOf: (email: string) => number;
  isInSegments: (email: string, segmentIds: readonly string[]) => boolean;
  /** Whether an address got a broadcast and did not open it. */
  isUnopened: (email: string, broadcastId: string) => boolean;
  /** `message_retention_days` of every workspace. */
  messageDays: number;
  missingSegments: string[];
  hasTemplate: boolean;
  providerId: string;
  ratePerMinute: number;
  category: TemplateCategory;
  sendBatch: (
    request: SendBatchRequest,
    stop?: AbortSignal,
  ) => SendBatchResponse | Promise<SendBatchResponse>;
  /** The outcomes on record; none by default. */
  getBatchOutcomes?: (
    request: GetBatchOutcomesRequest,
  ) => MessageInitShape<typeof GetBatchOutcomesResponseSchema>;
  sendIndividual: (request: SendIndividualRequest) => void;
  stats: MessageInitShape<typeof VariationStatsSchema>[] | ConnectError;
  links: MessageInitShape<typeof ListBroadcastLinksResponseSchema> | ConnectError;
  timeline: MessageInitShape<typeof GetBroadcastTimelineResponseSchema> | ConnectError;
  /** The templates that each broadcast was said to use. */
  uses: Map<string, { name: string; templateIds: string[] }>;
  hold: MessageInitShape<typeof GetHoldResponseSchema>;
};

export function allSent({ emails }: SendBatchRequest): SendBatchResponse {
  return create(SendBatchResponseSchema, { sent: emails.length });
}

export function givenPeerAnswers(): PeerAnswers {
  return {
    audience: ['a@example.com', 'b@example.com', 'c@example.com'],
    zoneOf: () => '',
    listOf: () => 0,
    isInSegments: () => true,
    isUnopened: () => true,
    messageDays: 0,
    missingSegments: ['missing'],
    hasTemplate: true,
    providerId: 'smtp',
    ratePerMinute: 600_000,
    category: TemplateCategory.MARKETING,
    sendBatch: allSent,
    sendIndividual: () => {},
    stats: [],
    links: {},
    timeline: {},
    uses: new Map(),
    hold: {},
  };
}

/** Clients of services that answer as `peers` say at the time of the call. */
export function fakePeers(peers: PeerAnswers): Peers {
  return {
    lists: {
      getList: async ({ id = '' }) => {
        if (id === 'missing') throw new ConnectError('List not found', Code.NotFound);
        return create(GetListResponseSchema, { list: { id, name: 'News' } });
      },
    },
    contacts: {
      getContactByEmail: async ({ email = '' }) => {
        const known = peers.audience.includes(email);
        if (!known) throw new ConnectError('Contact not found', Code.NotFound);
        const contact = {
          email,
          firstName: 'Ada',
          customJson1: { a: [1] },
          contactLists: [{ listId: 'news' }],
        };
        return create(GetContactByEmailResponseSchema, { contact });
      },
    },
    audience: {
      listAudience: async ({
        afterEmail = '',
        pageSize = 0,
        furtherListIds = [],
        segmentIds = [],
        withTimezones,
      }) => {
        const { zoneOf, listOf, isInSegments, missingSegments } = peers;
        if (segmentIds.some((id) => missingSegments.includes(id))) {
          throw new ConnectError('Segment not found', Code.NotFound);
        }
        const page = peers.audience.filter((email) => email > afterEmail).slice(0, pageSize);
        const bySegments = segmentIds.length > 0;
        const emails = bySegments ? page.filter((email) => isInSegments(email, segmentIds)) : page;
        const nextAfterEmail = page[pageSize - 1] ?? '';
        const timezones = withTimezones ? emails.map(zoneOf) : [];
        const lists = furtherListIds.length > 0 ? emails.map(listOf) : [];
        const found = { emails, timezones, lists, nextAfterEmail, bySegments };
        return create(ListAudienceResponseSchema, found);
      },
      listMissingSegments: async ({ segmentIds = [] }) =>
        create(ListMissingSegmentsResponseSchema, {
          segmentIds: segmentIds.filter((id) => peers.missingSegments.includes(id)),
        }),
      countAudience: async ({ segmentIds = [] }) => {
        const { audience, isInSegments } = peers;
        const isIn = (email: string) => segmentIds.length === 0 || isInSegments(email, segmentIds);
        return create(CountAudienceResponseSchema, { count: audience.filter(isIn).length });
      },
    },
    templates: {
      getTemplateContent: async () => {
        if (!peers.hasTemplate) throw new ConnectError('Template not found', Code.NotFound);
        const { category } = peers;
        return create(GetTemplateContentResponseSchema, {
          version: 7,
          category,
          channel: TemplateChannel.EMAIL,
        });
      },
      batchGetTemplates: async ({ keys = [] }) =>
        create(BatchGetTemplatesResponseSchema, {
          found: keys
            .filter(({ id }) => id !== 'missing')
            .map(({ id = '', version = 0 }) => ({
              key: { id, version },
              template: { id, version: version || 9 },
            })),
        }),
    },
    templateUses: {
      setTemplateUses: async ({ workspaceId, id, name = '', templateIds = [] }) => {
        const missing = templateIds.find((each) => each === 'going');
        if (missing) throw new ConnectError(`template ${missing} not found`, Code.NotFound);
        peers.uses.set(`${workspaceId} ${id}`, { name, templateIds: [...templateIds] });
        return create(SetTemplateUsesResponseSchema);
      },
    },
    workspaces: {
      getSettings: async () =>
        create(GetSettingsResponseSchema, {
          name: 'Acme',
          settings: {
            marketingEmailProviderId: peers.providerId,
            timezone: 'Europe/Paris',
            messageRetentionDays: peers.messageDays,
          },
        }),
      getIntegration: async ({ integrationId = '' }) => {
        if (integrationId === 'deleted') {
          throw refusal('INTEGRATION_NOT_FOUND', 'Integration not found');
        }
        return create(GetIntegrationResponseSchema, {
          integration: { emailProvider: { rateLimitPerMinute: peers.ratePerMinute } },
        });
      },
    },
    sender: {
      sendBatch: async (request, options) =>
        peers.sendBatch(request as SendBatchRequest, options?.signal),
      getBatchOutcomes: async (request) =>
        create(
          GetBatchOutcomesResponseSchema,
          peers.getBatchOutcomes?.(request as GetBatchOutcomesRequest),
        ),
      sendIndividual: async (request) => {
        peers.sendIndividual(request as SendIndividualRequest);
        return create(SendIndividualResponseSchema);
      },
      listVariationStats: async ({ broadcastIds = [] }) => {
        const { stats } = peers;
        if (stats instanceof ConnectError) throw stats;
        return create(ListVariationStatsResponseSchema, {
          stats: broadcastIds.flatMap((broadcastId) =>
            stats.map((each) => ({ ...each, broadcastId })),
          ),
        });
      },
    },
    holds: {
      getHold: async () => create(GetHoldResponseSchema, peers.hold),
      placeHold: async ({ reason = '' }) => {
        peers.hold = { since: timestampFromDate(new Date('2030-01-01T13:00:00Z')), reason };
        return create(PlaceHoldResponseSchema);
      },
      releaseHold: async ({ failWaiting }) => {
        peers.hold = {};
        return create(ReleaseHoldResponseSchema, { failed: failWaiting ? 3n : 0n });
      },
    },
    facts: {
      listUnopened: async ({ broadcastId = '', emails = [] }) =>
        create(ListUnopenedResponseSchema, {
          emails: emails.filter((email) => peers.isUnopened(email, broadcastId)),
        }),
    },
    progress: {
      listBroadcastLinks: async () => {
        const { links } = peers;
        if (links instanceof ConnectError) throw links;
        return create(ListBroadcastLinksResponseSchema, links);
      },
      getBroadcastTimeline: async () => {
        const { timeline } = peers;
        if (timeline instanceof ConnectError) throw timeline;
        return create(GetBroadcastTimelineResponseSchema, timeline);
      },
    },
  };
}
