import { create } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import {
  ListMissingListsResponseSchema,
  ListMissingSegmentsResponseSchema,
} from '#gen/postrider/contacts/v1/audience_pb.ts';
import { EventConsumerService } from '#gen/postrider/events/v1/events_pb.ts';
import { WebhookListenerService } from '#gen/postrider/webhooks/v1/listeners_pb.ts';
import { WebhookSubscriptionService } from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import type { Producers } from '#lib/events/interest-pushes.ts';
import { createLog } from '#lib/log.ts';
import { createEgress } from '#lib/outside/egress.ts';
import { query } from '#lib/postgres/query.ts';
import { testQuotas } from '#lib/test/quotas.ts';
import { testStore } from '../../../test/setup/database.ts';
import { keyring, testTransport, userClaims } from '../../../test/setup/service.ts';
import { shared } from '../../../test/setup/shared.ts';
import { Backlog } from '../backlog/backlog.ts';
import { limitsOf } from '../backlog/limits.ts';
import type { Context } from '../context.ts';
import { Dispatcher } from '../sending/dispatcher.ts';
import { Pool } from '../sending/pool.ts';
import { AttemptRecorder } from '../sending/recorder.ts';
import { webhooksRoutes } from '../service.ts';
import { counts, openWebhooksStore } from '../store.ts';

/** The interests that producers got, and what makes them fail. */
export type GivenProducers = {
  interests: { producer: string; workspaceId: string; types: string[] }[];
  /** Thrown in place of an answer. */
  failure: Error | undefined;
  /** Whether a call fails. */
  refuses: (told: { producer: string; workspaceId: string }) => boolean;
  /** Calls that succeed wait for it. */
  before: Promise<void> | undefined;
};

function fakeProducers(told: GivenProducers): Producers {
  const producer = (name: string): Producers[string] => ({
    async setInterest({ workspaceId = '', types = [], version = 0n }) {
      if (told.failure) throw told.failure;
      if (told.refuses({ producer: name, workspaceId })) throw new Error(`${name} is down`);
      await told.before;
      told.interests.push({ producer: name, workspaceId, types: types.toSorted() });
      return { $typeName: 'postrider.events.v1.SetInterestResponse', version };
    },
  });
  return { contacts: producer('contacts'), messages: producer('messages') };
}

/** Every list and segment exists but those called `gone`. */
export const allThere: Context['audience'] = {
  matchMembers: () => unexpected(),
  listMissingLists: async ({ listIds = [] }) =>
    create(ListMissingListsResponseSchema, { listIds: listIds.filter((id) => id === 'gone') }),
  listMissingSegments: async ({ segmentIds = [] }) =>
    create(ListMissingSegmentsResponseSchema, {
      segmentIds: segmentIds.filter((id) => id === 'gone'),
    }),
};

const pendingMax = 100_000;

const unexpected = () => Promise.reject(new Error('not expected'));

/** The service on a database of its own; other services answer as the test says. */
export async function givenService(over: Partial<Context> = {}) {
  const clock = { now: new Date('2030-01-01T12:00:00Z') };
  const told: GivenProducers = {
    interests: [],
    failure: undefined,
    refuses: () => false,
    before: undefined,
  };
  const store = over.store ?? (await testStore(openWebhooksStore));
  const log = createLog('test', 'silent');
  const clocks = { now: over.now ?? (() => clock.now), databaseTime: () => clock.now };
  const sending = {
    store,
    log,
    ...clocks,
    keyring,
    egress: over.egress ?? createEgress({ allow: ['127.0.0.0/8'], dnsServers: [] }),
    recorder: new AttemptRecorder({ ...clocks, store, log }),
    retryPlaces: new Pool(),
  };
  /** Of every workspace, where they differ from the defaults. */
  const quotas: Record<string, bigint> = {};
  const limits = testQuotas({ store, counts }, quotas);
  const context: Context = {
    ...sending,
    quotas: limits,
    dispatcher: new Dispatcher(sending),
    backlog: new Backlog(sending, (id) => limitsOf(limits, id, pendingMax)),
    producers: fakeProducers(told),
    audience: allThere,
    workspaces: { getSettings: unexpected, listOwners: unexpected },
    systemMail: { sendSystemMail: unexpected },
    ...over,
  };
  const transport = testTransport(webhooksRoutes(context));
  return {
    clock,
    context,
    quotas,
    told,
    client: createClient(WebhookSubscriptionService, transport(userClaims())),
    listeners: createClient(WebhookListenerService, transport(userClaims())),
    events: createClient(EventConsumerService, transport()),
    withHeaders: (headers: Record<string, string>) =>
      createClient(WebhookSubscriptionService, transport(userClaims(), headers)),
  };
}

export type Given = Awaited<ReturnType<typeof givenService>>;

/** The service for all tests of a file. */
export function useService(over?: Partial<Context>): Given {
  return shared(
    () => givenService(over),
    async ({ context }) => {
      await context.dispatcher.stop();
      await context.backlog.settled();
      await Promise.all([context.egress.close(), context.store.close()]);
    },
  );
}

let count = 0;
/** A workspace that no other test uses. */
export function givenWorkspace(): string {
  count += 1;
  return `w${count}`;
}

export const content = {
  name: 'CRM',
  url: 'https://hooks.example.com/postrider?key=1',
  eventTypes: ['contact.created', 'email.sent'],
};

export async function givenSubscription(
  { client }: Pick<Given, 'client'>,
  workspaceId: string,
  over: Partial<typeof content> & { listIds?: string[]; source?: string } = {},
) {
  const request = { workspaceId, ...content, ...over };
  const { subscription } = await client.createWebhookSubscription(request);
  if (!subscription) throw new Error('no subscription');
  return subscription;
}

/** Copies of the one subscription of a workspace, which cost less than their creation. */
export async function copySubscriptions(
  { context }: Pick<Given, 'context'>,
  workspaceId: string,
  copies: number,
): Promise<void> {
  await query(
    context.store.fork(),
    `insert into subscriptions select (jsonb_populate_record(s, jsonb_build_object('id', s.id || number))).*
     from subscriptions s, generate_series(1, $2::int) number where s.workspace_id = $1`,
    [workspaceId, copies],
  );
}

type Row = {
  id?: string;
  subscriptionId: string;
  status?: 'pending' | 'delivered' | 'failed' | 'waiting';
  attempts?: number;
  eventType?: string;
  createdAt?: Date;
  lastError?: string;
};

/** Stores deliveries and returns their ids. */
export async function givenDeliveries(
  { context, clock }: Given,
  workspaceId: string,
  rows: readonly Row[],
): Promise<string[]> {
  const ids = rows.map(({ id }) => id ?? crypto.randomUUID());
  await query(
    context.store.fork(),
    `insert into deliveries (workspace_id, id, subscription_id, event_type, payload, status, attempts,
       next_attempt_at, created_at, last_error)
     select $1, id, subscription_id, event_type, '{"email":"a@example.com"}', status, attempts,
       case status when 'pending' then created_at end, created_at, last_error
     from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::timestamptz[], $8::text[])
       as row (id, subscription_id, event_type, status, attempts, created_at, last_error)`,
    [
      workspaceId,
      ids,
      rows.map(({ subscriptionId }) => subscriptionId),
      rows.map(({ eventType }) => eventType ?? 'contact.created'),
      rows.map(({ status }) => status ?? 'pending'),
      rows.map(({ attempts }) => attempts ?? 0),
      rows.map(({ createdAt }) => createdAt ?? clock.now),
      rows.map(({ lastError }) => lastError ?? null),
    ],
  );
  return ids;
}

/** The waiting jobs of a task, oldest first. */
export async function jobsOf({ context }: Given, task: string): Promise<unknown[]> {
  const rows = await query<{ payload: unknown }>(
    context.store.fork(),
    `select payload from webhooks_jobs._private_jobs job
     join webhooks_jobs._private_tasks task on task.id = job.task_id
     where task.identifier = $1 order by job.id`,
    [task],
  );
  return rows.map(({ payload }) => payload);
}
