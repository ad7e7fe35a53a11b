import { createClient } from '@connectrpc/connect';
import { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { BroadcastPageService } from '#gen/postrider/broadcasts/v1/page_pb.ts';
import { SystemService } from '#gen/postrider/broadcasts/v1/system_pb.ts';
import { createEgress } from '#lib/outside/egress.ts';
import { query } from '#lib/postgres/query.ts';
import { testQuotas } from '#lib/test/quotas.ts';
import { testStore } from '../../../test/setup/database.ts';
import { keyring, testTransport, userClaims } from '../../../test/setup/service.ts';
import { shared } from '../../../test/setup/shared.ts';
import { Broadcast } from '../broadcast/broadcast.ts';
import type {
  Plan,
  Schedule,
  StoredDataFeed,
  StoredStatus,
  TestSettings,
} from '../broadcast/row.ts';
import { isMoving, newDraft, type SealedHeader } from '../broadcast/row.ts';
import type { Context } from '../context.ts';
import { type FeedKey, feedHeaders, storedPlace } from '../feeds/headers.ts';
import { createPageLinks } from '../page/links.ts';
import { createComplaintWatch } from '../sending/complaints.ts';
import { Revisions } from '../sending/revisions.ts';
import { createTurns } from '../sending/workspace-turns.ts';
import { broadcastsRoutes } from '../service.ts';
import { counts, openBroadcastsStore } from '../store.ts';
import { fakePeers, givenPeerAnswers } from './given-peers.ts';

/** The service on a database of its own, with peers that answer as `peers` says. */
export async function givenService(over: Partial<Context> = {}) {
  const clock = { now: new Date('2030-01-01T12:00:00Z') };
  const peers = givenPeerAnswers();
  const store = over.store ?? (await testStore(openBroadcastsStore));
  /** Of every workspace, where they differ from the defaults. */
  const quotas: Record<string, bigint> = {};
  const fakes = fakePeers(peers);
  const now = () => clock.now;
  const limits = { warned: 10, paused: 30 };
  const log = { warn: () => undefined };
  const context: Context = {
    store,
    complaints: createComplaintWatch({ store, sender: fakes.sender, now, log }, limits),
    quotas: testQuotas({ store, counts }, quotas),
    revisions: new Revisions(store),
    turns: createTurns(),
    now,
    egress: createEgress({ allow: ['127.0.0.0/8'], dnsServers: [] }),
    keyring,
    pageLinks: createPageLinks({
      keyring,
      publicUrl: 'https://mail.example/',
      now,
    }),
    ...fakes,
    ...over,
  };
  const transport = testTransport(broadcastsRoutes(context));
  const client = createClient(BroadcastService, transport(userClaims()));
  const pages = createClient(BroadcastPageService, transport());
  const system = createClient(SystemService, transport(userClaims()));
  const withHeaders = (headers: Record<string, string>) =>
    createClient(BroadcastService, transport(userClaims(), headers));
  return { clock, context, quotas, peers, client, withHeaders, pages, system };
}

export type Given = Awaited<ReturnType<typeof givenService>>;

/** The service for all tests of a file. */
export function useService(over?: Partial<Context>): Given {
  return shared(
    () => givenService(over),
    ({ context }) => Promise.all([context.egress.close(), context.store.close()]),
  );
}

type Wish = {
  id?: string;
  status?: StoredStatus;
  paused_from?: Broadcast['paused_from'];
  test_settings?: TestSettings;
  data_feed?: StoredDataFeed;
  test_sent_at?: Date;
  winner_phase_recipient_count?: number;
  starts_at?: Date;
  schedule?: Partial<Schedule>;
  list?: string;
  further_lists?: string[];
  integration_id?: string;
  segments?: string[];
  not_opened_of?: string;
  started_at?: Date;
  frozen_at?: Date;
  paused_at?: Date;
};

/** The fields of a request that every draft needs. */
export const draftContent = {
  workspaceId: 'acme',
  name: 'Hello',
  audience: { list: 'news' },
  testSettings: { variations: [{ templateId: 'hello' }] },
};

const untested: TestSettings = {
  enabled: false,
  sample_percentage: 0,
  auto_send_winner: false,
  auto_send_winner_metric: '',
  test_duration_hours: 0,
  variations: [{ template_id: 'hello', variation_name: '' }],
};

/** The plan of a broadcast whose content is pinned. */
export const pinned: Plan = {
  variations: [{ template_id: 'hello', template_version: 7 }],
  integration_id: 'smtp',
  rate_limit_per_minute: 600,
  lists: [{ id: 'news', name: 'News' }],
  include_unsubscribed: false,
  utm: {},
};

/** A test of two variations on half of the audience; opens after four hours decide it. */
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

/** Stores a broadcast in the given state. */
export const newId = () => crypto.randomUUID().replaceAll('-', '');

/** The stored header `X-Key` of a feed of the broadcast `id`: `secret`. */
export function givenHeader(id: string, kind: FeedKey['kind']): SealedHeader {
  const place = storedPlace({ workspaceId: 'acme', id, kind }, 'X-Key');
  return { name: 'X-Key', sealed_value: keyring.seal(feedHeaders, 'secret', place) };
}

export async function givenBroadcast({ context, clock }: Given, wish: Wish = {}) {
  const key = { workspaceId: 'acme', id: wish.id ?? newId() };
  const em = context.store.fork();
  em.create(Broadcast, {
    ...newDraft,
    workspace_id: key.workspaceId,
    id: key.id,
    name: 'Hello',
    status: wish.status ?? 'draft',
    audience: {
      list: wish.list ?? 'news',
      further_lists: wish.further_lists ?? [],
      segments: wish.segments ?? [],
      exclude_unsubscribed: true,
      ...(wish.not_opened_of !== undefined && { not_opened_of: wish.not_opened_of }),
    },
    schedule: { ...newDraft.schedule, ...wish.schedule },
    test_settings: wish.test_settings ?? untested,
    utm_parameters: { source: '', medium: '', campaign: '', term: '', content: '' },
    integration_id: wish.integration_id ?? '',
    winner_phase_recipient_count: wish.winner_phase_recipient_count ?? 0,
    created_at: clock.now,
    updated_at: clock.now,
    paused_from: wish.paused_from ?? null,
    paused_at: wish.paused_at ?? null,
    starts_at: wish.starts_at ?? null,
    started_at: wish.started_at ?? (isMoving(wish.status ?? 'draft') ? clock.now : null),
    frozen_at: wish.frozen_at ?? null,
    plan: wish.frozen_at ? pinned : null,
    data_feed: wish.data_feed ?? null,
    test_sent_at: wish.test_sent_at ?? null,
  });
  await em.flush();
  return key;
}

/** Keys of the queued wakes. */
export async function wakes({ context }: Given): Promise<string[]> {
  const rows = await query<{ key: string }>(
    context.store.fork(),
    "select key from broadcasts_jobs.jobs where task_identifier = 'wake' order by id",
    [],
  );
  return rows.map((row) => row.key);
}
