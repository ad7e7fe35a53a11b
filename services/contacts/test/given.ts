import type { JsonObject } from '@bufbuild/protobuf';
import {
  Code,
  ConnectError,
  createClient,
  createRouterTransport,
  type Transport,
} from '@connectrpc/connect';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { CustomEventService } from '#gen/postrider/contacts/v1/custom_events_pb.ts';
import { ContactListService, ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { SegmentService } from '#gen/postrider/contacts/v1/segments_pb.ts';
import {
  SubscriberService,
  SubscriptionService,
} from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { TimelineService } from '#gen/postrider/contacts/v1/timeline_pb.ts';
import {
  EventConsumerService,
  EventProducerService,
  PersonDataService,
} from '#gen/postrider/events/v1/events_pb.ts';
import { MessageFactsService } from '#gen/postrider/messages/v1/facts_pb.ts';
import { NotificationDirectoryService } from '#gen/postrider/messages/v1/transactional_pb.ts';
import {
  TemplateChannel,
  TemplateContentService,
  TemplateUseService,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import {
  WorkspaceDirectoryService,
  WorkspaceService,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { openOutbox } from '#lib/events/outbox.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { createLog } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { Authorize } from '#lib/rpc/server/access.ts';
import { keyringOfAll } from '#lib/test/all-keys.ts';
import { testQuotas } from '#lib/test/quotas.ts';
import { testStore } from '../../../test/setup/database.ts';
import { ownerEverywhere, testTransport } from '../../../test/setup/service.ts';
import { shared } from '../../../test/setup/shared.ts';
import type { Context } from '../context.ts';
import { TryOuts } from '../segments/try-out.ts';
import { contactsRoutes } from '../service.ts';
import { counts, openContactsStore } from '../store.ts';
import { createChallenges } from '../subscription/challenge.ts';
import { createEmailHmac } from '../subscription/email-hmac.ts';
import { createWantsProof } from '../subscription/proof-of-work.ts';
import { fakeMessages } from './messages.ts';

function clients(transport: Transport) {
  return {
    contacts: createClient(ContactService, transport),
    lists: createClient(ListService, transport),
    contactLists: createClient(ContactListService, transport),
    subscriptions: createClient(SubscriptionService, transport),
    subscribers: createClient(SubscriberService, transport),
    audience: createClient(AudienceService, transport),
    segments: createClient(SegmentService, transport),
    timelines: createClient(TimelineService, transport),
    customEvents: createClient(CustomEventService, transport),
    events: createClient(EventConsumerService, transport),
    interests: createClient(EventProducerService, transport),
  };
}

/** The service on a database of its own, with a clock that the test sets. */
export async function givenService(authorize: Authorize = ownerEverywhere) {
  const clock: {
    now: Date;
    beforeUse?: () => Promise<void>;
    beforeInterest?: () => Promise<void>;
  } = {
    now: new Date('2030-01-01T12:00:00Z'),
  };
  // One key for each workspace, as workspaces returns it; `nobody` does not exist.
  const keys = createRouterTransport((router) => {
    router.rpc(WorkspaceService.method.getEmailHmacKey, ({ workspaceId }) => {
      if (workspaceId === 'nobody') throw new ConnectError('Workspace not found', Code.NotFound);
      return { key: `key of ${workspaceId}` };
    });
  });
  // Every template exists but `gone`; `page` is for web pages.
  const templates = createRouterTransport((router) => {
    router.rpc(TemplateContentService.method.batchGetTemplates, ({ keys }) => {
      const there = keys.filter(({ id }) => id !== 'gone');
      return {
        found: there.map((key) => ({ key, template: { id: key.id, channel: channelOf(key.id) } })),
      };
    });
  });
  // The templates that each user was said to use.
  const uses = new Map<string, { name: string; templateIds: string[] }>();
  const templateUses = createRouterTransport((router) => {
    router.rpc(TemplateUseService.method.setTemplateUses, async (request) => {
      await clock.beforeUse?.();
      const missing = request.templateIds.find((id) => id === 'going');
      if (missing) throw new ConnectError(`template ${missing} not found`, Code.NotFound);
      const { workspaceId, kind, id, name, templateIds } = request;
      uses.set(`${kind} ${workspaceId} ${id}`, { name, templateIds });
      return {};
    });
  });
  const settings: { timelineRetentionDays?: number; formProofOfWork?: boolean } = {};
  const workspaces = createRouterTransport((router) => {
    router.rpc(WorkspaceDirectoryService.method.getSettings, () => ({ settings }));
  });
  // The types of message events that each workspace wants.
  const messageInterests = new Map<string, string[]>();
  const messages = fakeMessages(async ({ workspaceId, types }) => {
    await clock.beforeInterest?.();
    messageInterests.set(workspaceId, types);
  });
  const somebody = createRouterTransport(() => {});
  /** Records of other services about people, in pages of one record. */
  const personRecords: Record<string, { kind: string; data: JsonObject }[]> = {};
  const persons = createRouterTransport((router) => {
    router.rpc(PersonDataService.method.listPersonRecords, ({ email, cursor }) => {
      const at = Number(cursor);
      const records = personRecords[email] ?? [];
      const hasMore = records.length > at + 1;
      return { records: records.slice(at, at + 1), nextCursor: hasMore ? `${at + 1}` : undefined };
    });
  });
  const store = await testStore(openContactsStore);
  /** Of every workspace, where they differ from the defaults. */
  const quotas: Record<string, bigint> = {};
  const now = () => clock.now;
  const context: Context = {
    store,
    quotas: testQuotas({ store, counts }, quotas),
    outbox: openOutbox('contacts', { messages: somebody, webhooks: somebody }),
    messageFacts: createClient(MessageFactsService, messages.transport),
    notifications: createClient(NotificationDirectoryService, messages.transport),
    workspaces: createClient(WorkspaceDirectoryService, workspaces),
    templates: createClient(TemplateContentService, templates),
    templateUses: createClient(TemplateUseService, templateUses),
    now,
    producers: { messages: createClient(EventProducerService, messages.transport) },
    tryOuts: new TryOuts(),
    personData: { messages: createClient(PersonDataService, persons) },
    log: createLog('test', 'silent'),
    isProven: createEmailHmac(createClient(WorkspaceService, keys)),
    wantsProof: createWantsProof(createClient(WorkspaceDirectoryService, workspaces)),
    challenges: createChallenges({ keyring: keyringOfAll('contacts'), now }),
  };
  const transport = testTransport(contactsRoutes(context), { authorize });
  return {
    clock,
    context,
    messages,
    personRecords,
    settings,
    quotas,
    uses,
    facts: messages.counted,
    messageInterests,
    ...clients(transport()),
    as: (claims: Claims, headers?: Record<string, string>) => clients(transport(claims, headers)),
  };
}

const channelOf = (id: string) => (id === 'page' ? TemplateChannel.WEB : TemplateChannel.EMAIL);

export type Given = Awaited<ReturnType<typeof givenService>>;

/** The service for all tests of a file. */
export function useService(authorize?: Authorize): Given {
  return shared(
    () => givenService(authorize),
    ({ context }) => context.store.close(),
  );
}

let count = 0;

/** A workspace that no other test uses, with lists. */
export async function givenLists({ lists }: Given, ...ids: string[]): Promise<string> {
  count += 1;
  const workspaceId = `w${count}`;
  for (const id of ids) await lists.createList({ workspaceId, id, name: `List ${id}` });
  return workspaceId;
}

/** Sets all memberships of an address to a state directly. */
export async function givenStatus(
  { context, clock }: Given,
  member: { workspaceId: string; email: string; status: string; removed?: boolean },
): Promise<void> {
  await query(
    context.store.fork(),
    'update memberships set status = $3, deleted_at = $4 where workspace_id = $1 and email = $2',
    [member.workspaceId, member.email, member.status, member.removed ? clock.now : null],
  );
}

/** Marks a list as deleted, without the job that ends its memberships. */
export async function givenDeletedList(
  { context, clock }: Given,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<void> {
  await query(
    context.store.fork(),
    'update lists set deleted_at = $3 where workspace_id = $1 and id = $2',
    [workspaceId, id, clock.now],
  );
}
