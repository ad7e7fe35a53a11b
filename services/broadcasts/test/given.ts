import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { ListAudienceResponseSchema } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { GetContactByEmailResponseSchema } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { GetListResponseSchema } from '#gen/postrider/contacts/v1/lists_pb.ts';
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
  BatchGetTemplatesResponseSchema,
  GetTemplateContentResponseSchema,
  TemplateCategory,
  TemplateChannel,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import {
  GetIntegrationResponseSchema,
  GetSettingsResponseSchema,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { createEgress } from '#lib/outside/egress.ts';
import { query } from '#lib/postgres/query.ts';
import { testStore } from '../../../test/setup/database.ts';
import { keyring, testTransport, userClaims } from '../../../test/setup/service.ts';
import { Broadcast } from '../broadcast.ts';
import type { Schedule, Status, StoredDataFeed, TestSettings } from '../broadcast-row.ts';
import { isMoving } from '../broadcast-row.ts';
import type { Context } from '../context.ts';
import { broadcastsRoutes } from '../service.ts';
import { openBroadcastsStore } from '../store.ts';

/** What the other services answer; a test changes what matters to it. */
export type Neighbours = {
  audience: string[];
  zoneOf: (email: string) => string;
  listOf: (email: string) => number;
  hasTemplate: boolean;
  providerId: string;
  ratePerMinute: number;
  category: TemplateCategory;
  sendBatch: (
    request: SendBatchRequest,
    stop?: AbortSignal,
  ) => SendBatchResponse | Promise<SendBatchResponse>;
  /** What the record says; nobody has an outcome where it is not set. */
  getBatchOutcomes?: (
    request: GetBatchOutcomesRequest,
  ) => MessageInitShape<typeof GetBatchOutcomesResponseSchema>;
  sendIndividual: (request: SendIndividualRequest) => void;
  stats: MessageInitShape<typeof VariationStatsSchema>[] | ConnectError;
};

export function allSent({ emails }: SendBatchRequest): SendBatchResponse {
  return create(SendBatchResponseSchema, { sent: emails.length });
}

/** The service on a database of its own, with neighbours that answer what the test says. */
export async function givenService(over: Partial<Context> = {}) {
  const clock = { now: new Date('2030-01-01T12:00:00Z') };
  const neighbours: Neighbours = {
    audience: ['a@example.com', 'b@example.com', 'c@example.com'],
    zoneOf: () => '',
    listOf: () => 0,
    hasTemplate: true,
    providerId: 'smtp',
    ratePerMinute: 600_000,
    category: TemplateCategory.MARKETING,
    sendBatch: allSent,
    sendIndividual: () => {},
    stats: [],
  };
  const context: Context = {
    store: over.store ?? (await testStore(openBroadcastsStore)),
    now: () => clock.now,
    egress: createEgress(['127.0.0.0/8']),
    keyring,
    ...fakePeers(neighbours),
    ...over,
  };
  const client = createClient(
    BroadcastService,
    testTransport(broadcastsRoutes(context))(userClaims()),
  );
  return { clock, context, neighbours, client };
}

export type Given = Awaited<ReturnType<typeof givenService>>;

function fakePeers(neighbours: Neighbours): Omit<Context, 'store' | 'now' | 'egress' | 'keyring'> {
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
        withTimezones,
      }) => {
        const emails = neighbours.audience.filter((email) => email > afterEmail).slice(0, pageSize);
        const { zoneOf, listOf } = neighbours;
        const timezones = withTimezones ? emails.map(zoneOf) : [];
        const lists = furtherListIds.length > 0 ? emails.map(listOf) : [];
        return create(ListAudienceResponseSchema, { emails, timezones, lists });
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
    workspaces: {
      getSettings: async () =>
        create(GetSettingsResponseSchema, {
          name: 'Acme',
          settings: { marketingEmailProviderId: neighbours.providerId, timezone: 'Europe/Paris' },
        }),
      getIntegration: async () =>
        create(GetIntegrationResponseSchema, {
          integration: { emailProvider: { rateLimitPerMinute: neighbours.ratePerMinute } },
        }),
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
  };
}

type Wish = {
  status?: Status;
  paused_from?: Broadcast['paused_from'];
  test_settings?: TestSettings;
  data_feed?: StoredDataFeed;
  test_sent_at?: Date;
  winner_phase_recipient_count?: number;
  starts_at?: Date;
  schedule?: Partial<Schedule>;
  further_lists?: string[];
  segments?: string[];
  frozen_at?: Date;
};

const untested: TestSettings = {
  enabled: false,
  sample_percentage: 0,
  auto_send_winner: false,
  auto_send_winner_metric: '',
  test_duration_hours: 0,
  variations: [{ template_id: 'hello', variation_name: '' }],
};

/** A test of two variations on half of the audience, judged by opens after four hours. */
export const tested: TestSettings = {
  enabled: true,
  sample_percentage: 50,
  auto_send_winner: true,
  auto_send_winner_metric: 'open_rate',
  test_duration_hours: 4,
  variations: [
    { template_id: 'a', variation_name: 'A' },
    { template_id: 'b', variation_name: 'B' },
  ],
};

/** A broadcast in the state that the test is about. */
export async function givenBroadcast({ context, clock }: Given, wish: Wish = {}) {
  const key = { workspaceId: 'acme', id: crypto.randomUUID().replaceAll('-', '') };
  const em = context.store.fork();
  em.create(Broadcast, {
    workspace_id: key.workspaceId,
    id: key.id,
    name: 'Hello',
    status: wish.status ?? 'draft',
    audience: {
      list: 'news',
      further_lists: wish.further_lists ?? [],
      segments: wish.segments ?? [],
      exclude_unsubscribed: true,
    },
    schedule: {
      is_scheduled: false,
      scheduled_date: '',
      scheduled_time: '',
      timezone: '',
      use_recipient_timezone: false,
      ...wish.schedule,
    },
    test_settings: wish.test_settings ?? untested,
    utm_parameters: { source: '', medium: '', campaign: '', term: '', content: '' },
    enqueued_count: 0,
    test_phase_recipient_count: 0,
    winner_phase_recipient_count: wish.winner_phase_recipient_count ?? 0,
    revision: 0,
    outages: 0,
    ignore_render_failures: false,
    created_at: clock.now,
    updated_at: clock.now,
    paused_from: wish.paused_from ?? null,
    starts_at: wish.starts_at ?? null,
    started_at: isMoving(wish.status ?? 'draft') ? clock.now : null,
    frozen_at: wish.frozen_at ?? null,
    data_feed: wish.data_feed ?? null,
    test_sent_at: wish.test_sent_at ?? null,
  });
  await em.flush();
  return key;
}

/** The broadcasts whose workflow is to be woken. */
export async function wakes({ context }: Given): Promise<string[]> {
  const rows = await query<{ key: string }>(
    context.store.fork(),
    'select key from broadcasts_jobs.jobs where key is not null order by id',
    [],
  );
  return rows.map((row) => row.key);
}
