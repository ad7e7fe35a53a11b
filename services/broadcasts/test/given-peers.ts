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
export type Neighbours = {
  audience: string[];
  zoneOf: (email: string) => string;
  listOf: (email: string) => number;
  isInSegments: (email: string, segmentIds: readonly string[]) => boolean;
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

export function givenNeighbours(): Neighbours {
  return {
    audience: ['a@example.com', 'b@example.com', 'c@example.com'],
    zoneOf: () => '',
    listOf: () => 0,
    isInSegments: () => true,
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

/** Clients of services that answer as `neighbours` say at the time of the call. */
export function fakePeers(neighbours: Neighbours): Peers {
  return {
    lists: {
      getList: async ({ id = '' }) => {
        if (id === 'missing') throw new ConnectError('List not found', Code.NotFound);
        return create(GetListResponseSchema, { list: { id, name: 'News' } });
      },
    },
    contacts: {
      getContactByEmail: async ({ email = '' }) => {
        const known = neighbours.audience.includes(email);
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
        const { zoneOf, listOf, isInSegments, missingSegments } = neighbours;
        if (segmentIds.some((id) => missingSegments.includes(id))) {
          throw new ConnectError('Segment not found', Code.NotFound);
        }
        const page = neighbours.audience.filter((email) => email > afterEmail).slice(0, pageSize);
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
          segmentIds: segmentIds.filter((id) => neighbours.missingSegments.includes(id)),
        }),
      countAudience: async ({ segmentIds = [] }) => {
        const { audience, isInSegments } = neighbours;
        const isIn = (email: string) => segmentIds.length === 0 || isInSegments(email, segmentIds);
        return create(CountAudienceResponseSchema, { count: audience.filter(isIn).length });
      },
    },
    templates: {
      getTemplateContent: async () => {
        if (!neighbours.hasTemplate) throw new ConnectError('Template not found', Code.NotFound);
        const { category } = neighbours;
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
        neighbours.uses.set(`${workspaceId} ${id}`, { name, templateIds: [...templateIds] });
        return create(SetTemplateUsesResponseSchema);
      },
    },
    workspaces: {
      getSettings: async () =>
        create(GetSettingsResponseSchema, {
          name: 'Acme',
          settings: { marketingEmailProviderId: neighbours.providerId, timezone: 'Europe/Paris' },
        }),
      getIntegration: async ({ integrationId = '' }) => {
        if (integrationId === 'deleted') {
          throw refusal('INTEGRATION_NOT_FOUND', 'Integration not found');
        }
        return create(GetIntegrationResponseSchema, {
          integration: { emailProvider: { rateLimitPerMinute: neighbours.ratePerMinute } },
        });
      },
    },
    sender: {
      sendBatch: async (request, options) =>
        neighbours.sendBatch(request as SendBatchRequest, options?.signal),
      getBatchOutcomes: async (request) =>
        create(
          GetBatchOutcomesResponseSchema,
          neighbours.getBatchOutcomes?.(request as GetBatchOutcomesRequest),
        ),
      sendIndividual: async (request) => {
        neighbours.sendIndividual(request as SendIndividualRequest);
        return create(SendIndividualResponseSchema);
      },
      listVariationStats: async ({ broadcastIds = [] }) => {
        const { stats } = neighbours;
        if (stats instanceof ConnectError) throw stats;
        return create(ListVariationStatsResponseSchema, {
          stats: broadcastIds.flatMap((broadcastId) =>
            stats.map((each) => ({ ...each, broadcastId })),
          ),
        });
      },
    },
    holds: {
      getHold: async () => create(GetHoldResponseSchema, neighbours.hold),
      placeHold: async ({ reason = '' }) => {
        neighbours.hold = { since: timestampFromDate(new Date('2030-01-01T13:00:00Z')), reason };
        return create(PlaceHoldResponseSchema);
      },
      releaseHold: async ({ failWaiting }) => {
        neighbours.hold = {};
        return create(ReleaseHoldResponseSchema, { failed: failWaiting ? 3n : 0n });
      },
    },
    progress: {
      listBroadcastLinks: async () => {
        const { links } = neighbours;
        if (links instanceof ConnectError) throw links;
        return create(ListBroadcastLinksResponseSchema, links);
      },
      getBroadcastTimeline: async () => {
        const { timeline } = neighbours;
        if (timeline instanceof ConnectError) throw timeline;
        return create(GetBroadcastTimelineResponseSchema, timeline);
      },
    },
  };
}
