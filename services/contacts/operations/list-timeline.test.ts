import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import type { ListTimelineRequestSchema } from '#gen/postrider/contacts/v1/timeline_pb.ts';
import { MessageFactKind, MessageFactSchema } from '#gen/postrider/messages/v1/facts_pb.ts';
import { givenLists, useService } from '../test/given.ts';

const given = useService();
const email = 'ann@example.com';
const minute = (number: number) => new Date(Date.UTC(2030, 0, 1, 12, number));
const at = (number: number) => timestampFromDate(minute(number));
const messageId = 'a0000000-0000-4000-8000-000000000000';

beforeEach(() => {
  given.messages.facts.splice(0);
  given.messages.asked.splice(0);
  delete given.settings.timelineRetentionDays;
});

function fact(kind: MessageFactKind, name: string, number: number) {
  return create(MessageFactSchema, {
    id: `${messageId}:${name}`,
    kind,
    messageId,
    templateId: 'welcome',
    templateVersion: 2,
    channel: 'email',
    occurredAt: at(number),
  });
}

/** Ann's first minutes, one thing each. */
async function givenStory(): Promise<string> {
  const workspaceId = await givenLists(given, 'news');
  const then = async (number: number, happens: Promise<unknown> | (() => Promise<unknown>)) => {
    given.clock.now = minute(number);
    await (typeof happens === 'function' ? happens() : happens);
  };
  const contact = { email, firstName: 'Ann' };
  const key = { workspaceId, email, listId: 'news' };
  await then(0, () => given.contacts.upsertContact({ workspaceId, contact }));
  await then(1, () =>
    given.lists.subscribeContact({ workspaceId, contact: { email }, listIds: ['news'] }),
  );
  await then(2, () =>
    given.contacts.upsertContact({ workspaceId, contact: { email, lastName: 'Lee' } }),
  );
  await then(3, () =>
    given.customEvents.upsertCustomEvent({
      workspaceId,
      email,
      eventName: 'order.paid',
      externalId: '7',
      properties: { total: 1 },
      goalType: 'purchase',
      goalValue: 1.5,
    }),
  );
  await then(4, () =>
    given.contactLists.updateContactListStatus({ ...key, status: MembershipStatus.UNSUBSCRIBED }),
  );
  given.clock.now = minute(10);
  given.messages.facts.push(
    fact(MessageFactKind.OPENED, 'opened', 3),
    fact(MessageFactKind.SENT, 'sent', 1),
  );
  return workspaceId;
}

type Asked = MessageInitShape<typeof ListTimelineRequestSchema>;

async function list(workspaceId: string, request: Asked = {}) {
  const answer = await given.timelines.listTimeline({ workspaceId, email, ...request });
  return { ...answer, kinds: answer.timeline.map(({ kind }) => kind) };
}

const story = [
  'list.unsubscribed',
  'custom_event.order.paid',
  'open_email',
  'contact.updated',
  'list.subscribed',
  'insert_message_history',
  'contact.created',
];

test('an entry of a bounce has its class and the words of the server', async () => {
  const workspaceId = await givenStory();
  const bounced = fact(MessageFactKind.BOUNCED, 'bounced', 5);
  given.messages.facts.unshift({ ...bounced, bounceClass: 'hard', diagnostic: '550 5.1.1 gone' });
  const { timeline } = await list(workspaceId, { kinds: ['bounce_email', 'open_email'] });
  expect(timeline.map(({ entityData }) => entityData)).toMatchObject([
    { id: messageId, bounce_class: 'hard', diagnostic: '550 5.1.1 gone' },
    { id: messageId },
  ]);
  expect(timeline[1]?.entityData).not.toHaveProperty('diagnostic');
});

test("a timeline lists entries newest first, each with the entity's current state", async () => {
  const workspaceId = await givenStory();
  const { timeline, kinds, nextCursor } = await list(workspaceId, { email: ' ANN@example.com' });
  expect(kinds).toEqual(story);
  expect(nextCursor).toBeUndefined();
  const news = { id: 'news', name: 'List news', status: 'unsubscribed' };
  expect(timeline).toMatchObject([
    {
      email,
      operation: 'update',
      entityType: 'contact_list',
      changes: { status: { old: 'active', new: 'unsubscribed' } },
      entityId: 'news',
      entityData: news,
      createdAt: at(4),
    },
    {
      id: 'custom_event:order.paid:7',
      operation: 'insert',
      entityType: 'custom_event',
      changes: {},
      entityId: '7',
      entityData: {
        event_name: 'order.paid',
        properties: { total: 1 },
        goal_name: null,
        goal_type: 'purchase',
        goal_value: 1.5,
      },
      createdAt: at(3),
    },
    {
      id: `${messageId}:opened`,
      operation: 'update',
      entityType: 'message_history',
      entityId: messageId,
      entityData: {
        id: messageId,
        template_id: 'welcome',
        template_version: 2,
        broadcast_id: null,
        channel: 'email',
      },
      createdAt: at(3),
    },
    {
      operation: 'update',
      entityType: 'contact',
      changes: { last_name: { old: null, new: 'Lee' } },
      createdAt: at(2),
    },
    {
      operation: 'insert',
      entityType: 'contact_list',
      changes: { status: { old: null, new: 'active' } },
      entityId: 'news',
      entityData: news,
    },
    { operation: 'insert', entityType: 'message_history' },
    { id: 'contact.created', operation: 'insert', entityType: 'contact', createdAt: at(0) },
  ]);
  expect(timeline[3]?.entityData).toBeUndefined();
  expect(timeline[3]?.entityId).toBeUndefined();
  expect(new Set(timeline.map(({ id }) => id)).size).toBe(story.length);
});

test.each([1, 2, 3])(
  'pages of %d hold every entry once, of contacts and messages',
  async (limit) => {
    const workspaceId = await givenStory();
    const paged: string[] = [];
    let cursor: string | undefined = '';
    while (cursor !== undefined) {
      const page: Awaited<ReturnType<typeof list>> = await list(workspaceId, { cursor, limit });
      expect(page.kinds.length).toBeLessThanOrEqual(limit);
      paged.push(...page.kinds);
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(story);
  },
);

test.each<[Asked, string[]]>([
  [{ kinds: ['list.*'] }, ['list.unsubscribed', 'list.subscribed']],
  [
    { kinds: ['custom_event.order.*', 'contact.created'] },
    ['custom_event.order.paid', 'contact.created'],
  ],
  [{ kinds: ['open_email'] }, ['open_email']],
  [{ kinds: ['segment.*'] }, []],
  [{ since: at(3) }, story.slice(0, 3)],
  [{ until: at(1) }, ['contact.created']],
  [{ since: at(1), until: at(3) }, story.slice(3, 6)],
])('%# filters by kinds and times', async (request, expected) => {
  expect((await list(await givenStory(), request)).kinds).toEqual(expected);
});

test('the messages service is asked only for its own kinds, and for known contacts', async () => {
  const workspaceId = await givenStory();
  await list(workspaceId, { kinds: ['contact.*'] });
  expect((await list(workspaceId, { email: 'eve@example.com' })).timeline).toEqual([]);
  expect(given.messages.asked).toEqual([]);
  await list(workspaceId, { limit: 100 });
  expect(given.messages.asked).toMatchObject([{ workspaceId, email, limit: 101 }]);
});

test('only what the workspace keeps is shown', async () => {
  const workspaceId = await givenStory();
  given.settings.timelineRetentionDays = 1;
  given.clock.now = new Date(minute(3).getTime() + 24 * 60 * 60 * 1_000);
  expect((await list(workspaceId)).kinds).toEqual(story.slice(0, 3));
  expect((await list(workspaceId, { since: at(0) })).kinds).toEqual(story.slice(0, 3));
  given.settings.timelineRetentionDays = 2;
  expect((await list(workspaceId)).kinds).toEqual(story);
});

test('a list and an event that are gone have no data, and a removed membership no status', async () => {
  const workspaceId = await givenStory();
  const listData = async () =>
    (await list(workspaceId, { kinds: ['list.subscribed'] })).timeline[0];
  await given.contactLists.removeContactFromList({ workspaceId, email, listId: 'news' });
  expect((await listData())?.entityData).toEqual({ id: 'news', name: 'List news', status: null });
  await given.lists.deleteList({ workspaceId, id: 'news' });
  expect((await listData())?.entityData).toBeUndefined();
  const key = { workspaceId, email, eventName: 'order.paid', externalId: '7' };
  await given.customEvents.upsertCustomEvent({ ...key, deletedAt: at(5) });
  expect((await list(workspaceId, { kinds: ['custom_event.*'] })).kinds).toEqual([]);
});

test('a deleted contact has no timeline, and comes back with a new one', async () => {
  const workspaceId = await givenStory();
  given.messages.facts.splice(0);
  await given.contacts.deleteContact({ workspaceId, email });
  expect((await list(workspaceId)).kinds).toEqual([]);
  await given.contacts.upsertContact({ workspaceId, contact: { email } });
  expect((await list(workspaceId)).kinds).toEqual(['contact.created']);
});

const cursorOf = (text: string) => Buffer.from(text).toString('base64url');

test.each<[Asked, string]>([
  [{ email: '' }, 'email is required'],
  [{ email: 'nobody' }, 'invalid email format'],
  [{ limit: 0 }, 'limit must be between 1 and 100'],
  [{ limit: 101 }, 'limit must be between 1 and 100'],
  [{ kinds: ['contact.*', 'contacts.*'] }, 'invalid kind: contacts.*'],
  [{ kinds: ['custom_event.A'] }, 'invalid kind: custom_event.A'],
  [{ since: { seconds: -62_135_596_801n } }, 'since must lie in the years 1 to 9999'],
  [{ until: { seconds: 8_640_000_000_000n } }, 'until must lie in the years 1 to 9999'],
  [{ cursor: '~' }, 'invalid cursor'],
  [{ cursor: cursorOf('0000-01-01T00:00:00.000000Z a') }, 'invalid cursor'],
  [{ cursor: cursorOf('2030-02-31T00:00:00.000000Z a') }, 'invalid cursor'],
  [{ cursor: cursorOf('2030-01-01T00:00:00.000000Z a\0') }, 'invalid cursor'],
  [{ cursor: cursorOf(`2030-01-01T00:00:00.000000Z ${'a'.repeat(401)}`) }, 'invalid cursor'],
])('%j is refused', async (request, text) => {
  const workspaceId = await givenLists(given);
  await expect(list(workspaceId, request)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: text,
  });
});

test('a forged cursor shows nothing that the filters exclude', async () => {
  const workspaceId = await givenStory();
  const cursor = cursorOf('9999-12-31T23:59:59.999999Z z');
  expect((await list(workspaceId, { cursor })).kinds).toEqual(story);
  expect((await list(workspaceId, { cursor, until: at(1) })).kinds).toEqual(['contact.created']);
});
