import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import type { ConsumeEventsRequestSchema } from '#gen/postrider/events/v1/events_pb.ts';
import { bulkPriority } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Quotas } from '#lib/quotas/quotas.ts';
import type { Resource } from '#lib/quotas/resources.ts';
import { until } from '../../../test/stack/until.ts';
import { addWelcoming, readDueWelcomes, settleWelcomes } from '../record/welcomes.ts';
import { people, resetAfterEach, useService } from '../test/given.ts';
import { givenNotification } from '../test/given-notification.ts';
import { beginWelcomes } from './begin-welcomes.ts';
import { clearMessages } from './clear-messages.ts';
import { sendWelcomes } from './send-welcomes.ts';

const workspaceId = 'w1';
const listId = 'weekly';
const email = 'ann@example.com';
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const ago = (ms: number) => new Date(Date.now() - ms);

const given = useService();
resetAfterEach(given);
let notificationId = '';
beforeEach(async () => {
  await query(given.store.fork(), 'truncate messages, welcomes, suppressions', []);
  await query(given.store.fork(), 'delete from messages_jobs._private_jobs', []);
  notificationId = await givenNotification(given);
  given.world.welcome = { notificationId };
});

type Events = NonNullable<MessageInitShape<typeof ConsumeEventsRequestSchema>['events']>;

const consume = (...events: Events) =>
  given.events.consumeEvents({ workspaceId, batchId: crypto.randomUUID(), events });

type Over = { email?: string; at?: Date; delaySeconds?: number; isImport?: boolean };

function due({ at = new Date(), delaySeconds = 0, isImport = false, ...over }: Over = {}) {
  const data = {
    ...{ email: over.email ?? email, list_id: listId, active_since: at.toISOString() },
    ...{ delay_seconds: delaySeconds, is_import: isImport },
  };
  return {
    type: 'welcome.due',
    occurredAt: timestampFromDate(at),
    dataJson: JSON.stringify(data),
  };
}

const deleted = (at: Date) => ({
  type: 'contact.deleted',
  occurredAt: timestampFromDate(at),
  dataJson: JSON.stringify({ contact: { email } }),
});

const send = (isImport = false) => sendWelcomes(given.context)({ workspaceId, listId, isImport });

const rows = (columns = 'status, status_info, contact_email') =>
  query<Record<string, unknown>>(
    given.store.fork(),
    `select ${columns} from messages order by created_at, contact_email`,
    [],
  );
const waiting = () =>
  query<{ email: string; in_s: number | null }>(
    given.store.fork(),
    'select email, extract(epoch from due_at - now())::int as in_s from welcomes order by email',
    [],
  );
const jobs = () =>
  query<{ payload: object }>(
    given.store.fork(),
    `select payload from messages_jobs._private_jobs j join messages_jobs._private_tasks t on t.id = j.task_id
     where t.identifier = 'sendWelcomes'`,
    [],
  );

test('a new member gets the notification, with headers to leave the list, in the history of both', async () => {
  await consume(due());
  expect(await jobs()).toMatchObject([{ payload: { workspaceId, listId, isImport: false } }]);
  await send();
  const [raw = ''] = given.sink.bodies();
  const mail = await PostalMime.parse(raw);
  expect(mail.to).toEqual([{ address: email, name: '' }]);
  expect(raw).toMatch(/^List-Unsubscribe: <https:\/\/mail\.example\/u\/w1\//m);
  expect(raw).toMatch(/^List-ID: /im);
  const { messages } = await given.messages.listMessages({ workspaceId, notificationId });
  expect(messages).toMatchObject([
    { listId, transactionalNotificationId: notificationId, status: 'sent', contactEmail: email },
  ]);
  await send();
  await consume(due({ at: ago(hourMs) }));
  await send();
  expect(given.sink.total()).toBe(1);
});

test('the welcome is in the language of the contact', async () => {
  given.world.translations.set('de', { ...given.world.content, subject: 'Hallo' });
  given.world.fields.set(email, { language: 'de-AT' });
  await consume(due());
  await send();
  expect((await PostalMime.parse(given.sink.bodies()[0] ?? '')).subject).toBe('Hallo');
});

test('the link of a welcome leaves the list', async () => {
  await consume(due());
  await send();
  const [, token = ''] = /\/u\/w1\/([\w-]+)/.exec(given.sink.bodies()[0] ?? '') ?? [];
  await given.links.unsubscribeByLink({ workspaceId, token });
  expect(given.world.unsubscribed).toEqual([{ listId, email }]);
});

test('a welcome with a delay waits for it, and is begun by the minute', async () => {
  await consume(due({ delaySeconds: 3_600 }));
  expect(await jobs()).toEqual([]);
  await send();
  await beginWelcomes(given.context)();
  expect([given.sink.total(), await jobs()]).toEqual([0, []]);
  await query(given.store.fork(), 'update welcomes set due_at = now()', []);
  await beginWelcomes(given.context)();
  expect(await jobs()).toMatchObject([{ payload: { workspaceId, listId, isImport: false } }]);
  await send();
  expect(given.sink.total()).toBe(1);
});

test('the minute leaves jobs as they are that rest, fail or run', async () => {
  await consume(due());
  const change = (set: string) =>
    query(
      given.store.fork(),
      `update messages_jobs._private_jobs set ${set} where key like 'welcomes/%'`,
      [],
    );
  const state = () =>
    query(
      given.store.fork(),
      `select id, attempts, run_at, locked_by from messages_jobs._private_jobs where key like 'welcomes/%'`,
      [],
    );
  for (const set of [
    `attempts = 12, run_at = now() + interval '20 minutes'`,
    `locked_by = 'worker', locked_at = now()`,
  ]) {
    await change(set);
    const before = await state();
    await beginWelcomes(given.context)();
    expect(await state()).toEqual(before);
  }
});

test('lists whose jobs can be added do not wait for those of others', async () => {
  const count = 1_000;
  await query(
    given.store.fork(),
    `insert into welcomes (workspace_id, email, list_id, active_since, happened_at, is_import, message_id, message_since, due_at)
     select case when n < $2 then 'w1' else 'w2' end, $1, 'l' || to_char(n, 'FM0000'), now(), now(), n % 2 = 0, gen_random_uuid(), now(), now()
     from generate_series(1, $2::int) n`,
    [email, count],
  );
  let beginning: Promise<void> | undefined;
  await given.store.fork().transactional(async (em) => {
    await addWelcoming(em, { workspaceId: 'w2', listId: `l${count}`, isImport: true });
    beginning = beginWelcomes(given.context)();
    await until('those before have jobs', async () => (await jobs()).length >= count / 2);
  });
  await beginning;
  expect(await jobs()).toHaveLength(count);
});

test.each(['unsubscribed', 'pending', 'removed', 'bounced'])(
  'a contact that is %s by then gets none, and nothing waits',
  async (reason) => {
    await consume(due());
    given.world.skipReasons.set(email, reason);
    await send();
    expect([given.sink.total(), await waiting()]).toEqual([0, []]);
    const kept = reason === 'removed' ? '' : email;
    expect(await rows()).toEqual([{ status: 'skipped', status_info: reason, contact_email: kept }]);
  },
);

test('a suppressed address gets none', async () => {
  await given.suppressions.addSuppression({ workspaceId, email, reason: 'bounced' });
  await consume(due());
  await send();
  expect([given.sink.total(), await waiting()]).toEqual([0, []]);
});

test('a membership that ended before its delay gets none, though another one has begun', async () => {
  const second = new Date();
  await consume(due({ at: ago(2 * dayMs) }));
  given.world.activeSince.set(email, second);
  await send();
  expect([given.sink.total(), await waiting()]).toEqual([0, []]);
  await consume(due({ at: second }));
  await send();
  expect(given.sink.total()).toBe(1);
});

test('an event of becoming active that comes after a newer one changes nothing', async () => {
  await consume(due({ delaySeconds: 3_600 }));
  await consume(due({ at: ago(dayMs) }));
  const [row] = await waiting();
  expect(row?.in_s).toBeGreaterThan(3_500);
});

test.each([
  ['within a day of the welcome', 12 * hourMs, 1],
  ['more than a day after the welcome', 36 * hourMs, 2],
])('a return %s counts as it should', async (_, laterMs, total) => {
  await consume(due({ at: ago(2 * dayMs) }));
  await send();
  await query(
    given.store.fork(),
    `update welcomes set done_at = now() - $1::int * interval '1 hour'`,
    [laterMs / hourMs],
  );
  await consume(due());
  await send();
  expect(given.sink.total()).toBe(total);
});

test('a return while the welcome of the last membership waits starts the delay anew', async () => {
  await consume(due({ at: ago(hourMs), delaySeconds: 2 * 3_600 }));
  await consume(due({ delaySeconds: 2 * 3_600 }));
  const [row, ...others] = await waiting();
  expect(others).toEqual([]);
  expect(row?.in_s).toBeGreaterThan(7_100);
});

test('ten thousand flips of a membership make one welcome', async () => {
  const first = Date.now() - dayMs;
  for (let portion = 0; portion < 20; portion += 1) {
    const at = (place: number) => new Date(first + portion * 500 + place);
    await consume(...Array.from({ length: 500 }, (_, place) => due({ at: at(place) })));
    if (portion % 5 === 0) await send();
  }
  await send();
  expect([given.sink.total(), (await rows()).length]).toEqual([1, 1]);
});

test('a return that comes while the welcome of the last membership is refused consent gets its own', async () => {
  const second = new Date();
  await consume(due({ at: ago(dayMs) }));
  const asked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  given.world.activeSince.set(email, second);
  given.world.resolving = () => {
    asked.resolve();
    return release.promise;
  };
  const sending = send();
  await asked.promise;
  await consume(due({ at: second }));
  release.resolve();
  await sending;
  await send();
  expect(given.sink.total()).toBe(1);
  expect(await rows('status')).toEqual([{ status: 'skipped' }, { status: 'sent' }]);
});

/** As a process leaves the message of a welcome that dies before it settles the welcome. */
async function recordUnsettled(status: string): Promise<void> {
  await query(
    given.store.fork(),
    `insert into messages (workspace_id, id, contact_email, list_id, notification_id, template_id, template_version,
       integration_id, status, attempts, created_at, updated_at)
     select workspace_id, message_id, email, list_id, $1, 't', 1, 'smtp-1', $2, 1, now(), now() from welcomes`,
    [notificationId, status],
  );
}

test.each(['skipped', 'failed', 'cancelled'])(
  'a message that was %s for an earlier period ends no welcome of the period that waits',
  async (status) => {
    await consume(due({ at: ago(hourMs) }));
    await recordUnsettled(status);
    await consume(due());
    await send();
    await send();
    expect(given.sink.total()).toBe(1);
    expect(await rows('status')).toEqual([{ status }, { status: 'sent' }]);
  },
);

test.each(['skipped', 'failed', 'cancelled', 'sent'])(
  'a message that was %s for the period that waits ends its welcome',
  async (status) => {
    await consume(due({ at: ago(hourMs) }));
    await recordUnsettled(status);
    await send();
    await send();
    expect(await waiting()).toEqual(status === 'skipped' ? [] : [{ email, in_s: null }]);
    expect([given.sink.total(), await rows('status')]).toEqual([0, [{ status }]]);
  },
);

test('a period whose welcome cannot be sent fails by a message of its own', async () => {
  await consume(due({ at: ago(hourMs) }));
  await recordUnsettled('skipped');
  await consume(due());
  given.world.missingTemplates.add(`t-${notificationId}`);
  await send();
  expect(await rows('status')).toEqual([{ status: 'skipped' }, { status: 'failed' }]);
  expect(await waiting()).toEqual([{ email, in_s: null }]);
});

test('a deletion that comes late skips the message of the period before it, and the next is welcomed', async () => {
  await consume(due({ at: ago(2 * hourMs) }));
  given.world.resolving = () => Promise.reject(new Error('contacts is away'));
  await expect(send()).rejects.toThrow('contacts is away');
  given.world.resolving = undefined;
  await consume(due());
  await consume(deleted(ago(hourMs)));
  await send();
  await send();
  expect(given.sink.total()).toBe(1);
});

test('a welcome that a later period has taken over is refused consent by one message', async () => {
  await consume(due({ at: ago(hourMs) }));
  await consume(due());
  given.world.skipReasons.set(email, 'unsubscribed');
  await send();
  expect([await waiting(), await rows('status')]).toEqual([[], [{ status: 'skipped' }]]);
});

test('welcomes are settled in the order in which they are asked for', async () => {
  const emails = people(50, 'order').toSorted();
  const at = ago(hourMs);
  // Stored in the opposite order.
  for (const each of emails.toReversed()) await consume(due({ email: each, at }));
  await recordUnsettled('sent');
  const [first, last] = [emails[0], emails.at(-1)];
  const found = await readDueWelcomes(given.store, { workspaceId, listId, isImport: false }, 100);
  const lockOf = (em: EntityManager, address: string | undefined) =>
    query(em, 'select from welcomes where email = $1 for update', [address]);
  let settling: Promise<void> | undefined;
  await given.store.fork().transactional(async (em) => {
    await lockOf(em, first);
    const [key, ended] = [{ workspaceId, listId }, new Set<string>()];
    const backwards = found.toSorted((a, b) => (a.email < b.email ? 1 : -1));
    settling = settleWelcomes(given.store, key, { due: backwards, ended });
    await until('it waits for the first', async () => {
      const waits = await query(
        given.store.fork(),
        `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%welcomes%' and pid <> pg_backend_pid()`,
        [],
      );
      return waits.length > 0;
    });
    await lockOf(em, last);
  });
  await settling;
  expect((await waiting()).map(({ in_s }) => in_s)).toEqual(emails.map(() => null));
});

test('a deletion leaves nothing of a welcome that waits, and one that comes late leaves a newer one', async () => {
  await consume(due({ delaySeconds: 3_600 }), deleted(ago(hourMs)));
  expect(await waiting()).toHaveLength(1);
  await consume(deleted(new Date()));
  expect(await waiting()).toEqual([]);
  await consume(due({ at: ago(hourMs) }));
  given.world.skipReasons.set(email, 'removed');
  given.world.missingTemplates.add(`t-${notificationId}`);
  await send();
  expect([await waiting(), await rows('contact_email')]).toEqual([[], [{ contact_email: '' }]]);
});

test('a deletion that comes late leaves nothing of a welcome whose consent was not asked yet', async () => {
  await consume(due({ at: ago(hourMs) }));
  given.world.resolving = () => Promise.reject(new Error('contacts is away'));
  await expect(send()).rejects.toThrow('contacts is away');
  expect(await rows('status')).toEqual([{ status: 'deferred' }]);
  await consume(deleted(ago(hourMs / 2)));
  expect([await waiting(), await rows('status, contact_email')]).toEqual([
    [],
    [{ status: 'skipped', contact_email: '' }],
  ]);
});

test.each([
  ['has no welcome any more', () => (given.world.welcome = undefined)],
  ['is deleted', () => (given.world.hasNoLists = true)],
])('welcomes that wait for a list that %s are dropped', async (_, change) => {
  given.sink.behaviour.replies = [{ step: 'rcpt', reply: '450 later' }];
  await consume(due());
  await send();
  expect(await rows('status')).toEqual([{ status: 'deferred' }]);
  await query(given.store.fork(), 'update welcomes set due_at = now()', []);
  change();
  await send();
  expect([given.sink.total(), await waiting()]).toEqual([0, []]);
  expect(await rows('status')).toEqual([{ status: 'failed' }]);
});

test('a member who joins after contacts said that a list has no welcome is welcomed by its next', async () => {
  const { welcome } = given.world;
  given.world.welcome = undefined;
  const later = new Date(Date.now() + 60_000);
  given.world.findingWelcomes = async () => {
    await consume(due({ email: 'new@example.com', at: later }));
  };
  await consume(due());
  await send();
  given.world.findingWelcomes = undefined;
  given.world.welcome = welcome;
  expect(await waiting()).toMatchObject([{ email: 'new@example.com' }]);
  await send();
  expect(given.sink.received.get('new@example.com')?.count).toBe(1);
});

test('welcomes with a delay are dropped within the hour after their list has lost its welcome', async () => {
  await consume(...people(3).map((each) => due({ email: each, delaySeconds: 3_600 })));
  const clear = clearMessages(given.context).task;
  given.world.findingWelcomes = () => Promise.reject(new ConnectError('away', Code.Unavailable));
  await clear();
  given.world.findingWelcomes = undefined;
  await clear();
  expect(await waiting()).toHaveLength(3);
  given.world.welcome = undefined;
  await clear();
  expect(await waiting()).toEqual([]);
});

test('welcomes wait for a contacts process of the release before, which does not know them', async () => {
  const { welcome } = given.world;
  given.world.welcome = undefined;
  given.world.findingWelcomes = () =>
    Promise.reject(new ConnectError('no such method', Code.Unimplemented));
  await consume(due());
  await expect(send()).rejects.toMatchObject({ code: Code.Unimplemented });
  expect(await waiting()).toHaveLength(1);
  given.world.findingWelcomes = undefined;
  given.world.welcome = welcome;
  await send();
  expect(given.sink.total()).toBe(1);
});

test('a refused welcome is tried again as the same message', async () => {
  given.sink.behaviour.replies = [{ step: 'rcpt', reply: '450 later' }];
  await consume(due());
  await send();
  const [before] = await waiting();
  expect(before?.in_s).toBeGreaterThan(30);
  given.sink.behaviour.replies = [];
  await query(given.store.fork(), 'update messages set due_at = now()', []);
  await query(given.store.fork(), 'update welcomes set due_at = now()', []);
  await send();
  expect(await rows('status, attempts')).toEqual([{ status: 'sent', attempts: 2 }]);
});

test('a welcome in the history that was not tried yet can be cancelled, and is not sent', async () => {
  await consume(due());
  given.world.resolving = () => Promise.reject(new Error('contacts is away'));
  await expect(send()).rejects.toThrow('contacts is away');
  given.world.resolving = undefined;
  const [row] = await rows('id');
  const cancel = () =>
    given.transactional.cancelTransactional({ workspaceId, messageId: String(row?.id) });
  expect(await cancel()).toMatchObject({ success: true });
  await query(given.store.fork(), 'update welcomes set due_at = now()', []);
  await send();
  expect([given.sink.total(), await waiting()]).toEqual([0, [{ email, in_s: null }]]);
});

test('a welcome that failed is not retried', async () => {
  given.world.welcome = { notificationId: 'gone' };
  await consume(due());
  await send();
  const [row] = await rows('id');
  const retry = given.messages.retryMessage({ workspaceId, id: String(row?.id) });
  await expect(retry).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: 'a welcome cannot be retried: it comes again when the contact returns to the list',
  });
});

test('welcomes wait out a server that is away', async () => {
  const { port } = given.world;
  given.world.port = 1;
  given.context.plans.refresh(workspaceId);
  await consume(due());
  await send();
  expect(await waiting()).toHaveLength(1);
  expect(await jobs()).toHaveLength(1);
  given.world.port = port;
  given.context.plans.refresh(workspaceId);
  await query(given.store.fork(), 'update messages set due_at = now()', []);
  await send();
  expect(given.sink.total()).toBe(1);
});

test('a welcome that its owner has to mend fails with the reason', async () => {
  given.world.welcome = { notificationId: 'gone' };
  await consume(due());
  await send();
  expect(await rows('status, status_info')).toEqual([
    { status: 'failed', status_info: 'the welcome cannot be sent: Notification not found' },
  ]);
});

test('a welcome that another process sends does not fail with those that cannot be sent', async () => {
  await consume(due(), due({ email: 'bob@example.com' }));
  await query(
    given.store.fork(),
    `insert into messages (workspace_id, id, contact_email, list_id, notification_id, template_id, template_version,
       integration_id, status, attempts, owner, lease_until, created_at, updated_at)
     select workspace_id, message_id, email, list_id, $1, 't', 1, 'smtp-1', 'sending', 1, gen_random_uuid(),
       now() + interval '30 seconds', now(), now()
     from welcomes where email = $2`,
    [notificationId, email],
  );
  given.world.missingTemplates.add(`t-${notificationId}`);
  await send();
  expect(
    await query(given.store.fork(), 'select contact_email, status from messages order by 1', []),
  ).toEqual([
    { contact_email: email, status: 'sending' },
    { contact_email: 'bob@example.com', status: 'failed' },
  ]);
  expect(await waiting()).toMatchObject([{ in_s: expect.any(Number) }, { in_s: null }]);
});

test('a welcome is sent by the template that the notification has then', async () => {
  await consume(due());
  await query(given.store.fork(), 'update notifications set channels = $1', [
    JSON.stringify({ email: { template_id: 'other' } }),
  ]);
  given.context.transactional.notifications.forget(workspaceId, notificationId);
  await send();
  expect(await rows('template_id')).toEqual([{ template_id: 'other' }]);
});

test('a welcome has the tags of its notification, also where it fails', async () => {
  const change = async (set: string) => {
    await query(given.store.fork(), `update notifications set ${set}`, []);
    given.context.transactional.notifications.forget(workspaceId, notificationId);
  };
  await change(`tags = '["hello", "new"]'`);
  await consume(due({ at: ago(hourMs) }));
  await send();
  given.world.missingTemplates.add('gone');
  await change(`channels = '{"email": {"template_id": "gone"}}'`);
  await consume(due({ email: 'bob@example.com' }));
  await send();
  const tags = ['hello', 'new'];
  expect(await rows('status, tags')).toEqual([
    { status: 'sent', tags },
    { status: 'failed', tags },
  ]);
});

test('a process that died while it sent a welcome leaves it to another, as the same message', async () => {
  await consume(due());
  const [row] = await query<{ message_id: string }>(
    given.store.fork(),
    'select message_id from welcomes',
    [],
  );
  await query(
    given.store.fork(),
    `insert into messages (workspace_id, id, contact_email, list_id, notification_id, template_id, template_version,
       integration_id, status, attempts, owner, lease_until, created_at, updated_at)
     values ('w1', $1, $2, 'weekly', $3, 't', 1, 'smtp-1', 'sending', 1, gen_random_uuid(), now() + interval '30 seconds', now(), now())`,
    [row?.message_id, email, notificationId],
  );
  await send();
  expect(given.sink.total()).toBe(0);
  await query(
    given.store.fork(),
    `update messages set lease_until = now() - interval '1 second'`,
    [],
  );
  await query(given.store.fork(), 'update welcomes set due_at = now()', []);
  await send();
  expect(await rows('status, unknown')).toEqual([{ status: 'sent', unknown: 1 }]);
});

test('welcomes of imports are bulk mail of a job of their own, behind the jobs of others', async () => {
  const imported = people(300, 'import').map((each) => due({ email: each, isImport: true }));
  await consume(...imported, due());
  const urgent: boolean[] = [];
  const { admission } = given.context;
  const enter = admission.enter.bind(admission);
  admission.enter = (wish) => {
    urgent.push(wish.isUrgent);
    return enter(wish);
  };
  await send();
  expect([given.sink.total(), urgent]).toEqual([1, [true]]);
  await send(true);
  expect(given.sink.total()).toBe(301);
  expect(urgent.slice(1)).not.toContain(true);
  const priorities = await query(
    given.store.fork(),
    `select priority from messages_jobs._private_jobs where key like 'welcomes/%/imports'`,
    [],
  );
  expect(priorities).toEqual([{ priority: bulkPriority }]);
});

test('beyond the quota of welcomes nobody is welcomed', async () => {
  given.world.quotas.welcomes = 2n;
  const { context, events } = given.newProcess();
  await context.quotas.countNow(workspaceId, 'welcomes');
  await events.consumeEvents({
    ...{ workspaceId, batchId: crypto.randomUUID() },
    events: people(5).map((each) => due({ email: each, delaySeconds: 60 })),
  });
  expect(await waiting()).toHaveLength(2);
  expect(await usedOf(context.quotas, 'welcomes')).toBe(2);
});

const usedOf = async (quotas: Quotas, resource: Resource) =>
  (await quotas.countNow(workspaceId, resource)).used;

test('welcomes leave the queue of transactional mail its room, and count until they are deleted', async () => {
  const { quotas } = given.newProcess().context;
  const before = await usedOf(quotas, 'queued_messages');
  await consume(...people(5).map((each) => due({ email: each, delaySeconds: 2_592_000 })), due());
  await send();
  expect(await usedOf(quotas, 'queued_messages')).toBe(before);
  expect(await usedOf(quotas, 'welcomes')).toBe(6);
});
