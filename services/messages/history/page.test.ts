import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { ListMessagesRequestSchema } from '#gen/postrider/messages/v1/messages_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { testStore } from '../../../test/setup/database.ts';
import { shared } from '../../../test/setup/shared.ts';
import { openMessagesStore } from '../store.ts';
import type { MessageCursor } from './cursor.ts';
import { historyFilters } from './filters.ts';
import { historySql, lookedAtMax, readHistoryPage } from './page.ts';

type Filter = Omit<MessageInitShape<typeof ListMessagesRequestSchema>, '$typeName'>;

const claim = 200;
/**
 * Only the oldest claim is of the list `old`. In no order on disk, and nobody has counted the table
 * yet.
 */
const count = 3 * lookedAtMax;
const given = shared(
  async () => {
    const own = await testStore(openMessagesStore);
    await query(
      own.fork(),
      `insert into messages (workspace_id, id, contact_email, broadcast_id, list_id, template_id, template_version,
         integration_id, status, attempts, created_at, updated_at, sent_at, failed_at, notification_id, tags)
       select 'w', gen_random_uuid(), 'p' || number % 3 || '@a.example', 'b' || number / 5000,
         case when number < ${claim} then 'old' else 'new' end, 't', 1, 'i', 'sent', 1, at, at, at,
         case when number % 100 = 0 then at end, case when number % 3 = 0 then 'n' end,
         case when number % 50 = 0 then array['x', 'y'] end
       from generate_series(0, ${count - 1}) number,
         lateral (select timestamptz '2026-01-01Z' + number / ${claim} * interval '1 second' as at) times
       order by md5(number::text)`,
      [],
    );
    return { store: own };
  },
  ({ store: own }) => own.close(),
);

const filtersOf = (filter: Filter) =>
  historyFilters(create(ListMessagesRequestSchema, { workspaceId: 'w', ...filter }));

/** The plan of a page, as it ran. */
async function ran(filter: Filter): Promise<string> {
  const { text, values } = historySql(filtersOf(filter), { limit: 20, after: undefined });
  const rows = await query<{ 'QUERY PLAN': string }>(
    given.store.fork(),
    `explain (analyze, buffers, costs off, timing off) ${text}`,
    values,
  );
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

/** All pages of a filter. */
async function pagesOf(filter: Filter, limit: number) {
  const pages: string[][] = [];
  let after: MessageCursor | undefined;
  do {
    const page = await readHistoryPage(given.store, filtersOf(filter), { limit, after });
    pages.push(page.messages.map(({ id }) => id));
    after = page.next;
  } while (after);
  return pages;
}

const early = timestampFromDate(new Date('2026-01-01T00:00:05Z'));

test.each<[string, Filter]>([
  ['newest', {}],
  ['newest', { listId: 'old' }],
  ['newest', { templateId: 'other' }],
  ['newest', { isSent: false }],
  ['newest', { isDelivered: true }],
  ['newest', { isOpened: true, isClicked: true }],
  ['newest', { sentBefore: early }],
  ['newest', { updatedAfter: early, updatedBefore: early }],
  ['pkey', { id: '00000000-0000-4000-8000-000000000000', broadcastId: 'b1' }],
  ['newest', { status: 'sending' }],
  ['external', { externalId: 'x' }],
  ['external', { externalId: 'x', contactEmailPrefix: 'p' }],
  ['contact', { contactEmailPrefix: 'p1' }],
  ['contact', { contactEmailPrefix: 'p', sentBefore: early, isFailed: true }],
  ['notification', { notificationId: 'n' }],
  ['notification', { notificationId: 'n', status: 'skipped' }],
  ['contact', { contactEmail: 'p1@a.example' }],
  ['contact', { contactEmail: 'p1@a.example', broadcastId: 'b0', isFailed: true }],
  ['broadcast', { broadcastId: 'b0' }],
  ['broadcast', { broadcastId: 'b0', isOpened: true, templateId: 't' }],
  ['broadcast', { broadcastId: 'b0', isSent: false, listId: 'old' }],
  ['tagged', { tag: 'y' }],
  ['tagged', { tag: 'other', templateId: 't' }],
  ['notification', { notificationId: 'n', tag: 'x' }],
  ['failed', { isFailed: true }],
  ['failed', { broadcastId: 'b0', isFailed: true }],
  ['failed', { status: 'failed', notificationId: 'n' }],
  ['bounced', { status: 'bounced' }],
  ['complained', { status: 'complained', isFailed: true }],
  ['bounced', { isBounced: true, isFailed: true }],
  ['complained', { isComplained: true, isBounced: true }],
  ['unsubscribed', { isUnsubscribed: true, listId: 'new' }],
])('reads a page by messages_%s, and few rows: %j', async (index, filter) => {
  const plan = await ran(filter);
  const scans = [...plan.matchAll(/using (messages_\w+) on messages .*rows=(\d+)/g)];
  expect(scans.map(([, name]) => name)).toContain(`messages_${index}`);
  expect(plan).not.toMatch(/Seq Scan|Bitmap/);
  for (const [, , rows] of scans) expect(Number(rows)).toBeLessThanOrEqual(lookedAtMax + claim);
});

test('pages that have looked at many rows end, and the last of them is found', async () => {
  const pages = await pagesOf({ listId: 'old' }, 150);
  expect(pages.map((page) => page.length)).toEqual([0, 0, 150, 50]);
  expect(new Set(pages.flat()).size).toBe(claim);
});

test('each page by address is read by messages_contact, whatever the collation', async () => {
  const em = given.store.fork();
  await query(
    em,
    'alter table messages alter column contact_email type text collate "en-x-icu"',
    [],
  );
  const filters = filtersOf({ contactEmailPrefix: 'p' });
  const first = await readHistoryPage(given.store, filters, { limit: 99, after: undefined });
  const { text, values } = historySql(filters, { limit: 99, after: first.next });
  const rows = await query<{ 'QUERY PLAN': string }>(
    em,
    `explain (analyze, buffers, costs off, timing off) ${text}`,
    values,
  );
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).not.toMatch(/Seq Scan|Bitmap/);
  const scans = [...plan.matchAll(/using (messages_\w+) on messages .*rows=(\d+)/g)];
  expect(scans.map(([, name]) => name)).toEqual(['messages_contact', 'messages_contact']);
  for (const [, , read] of scans) expect(Number(read)).toBeLessThanOrEqual(lookedAtMax + claim);
});

test('pages by address hold each message once, in order', async () => {
  const ids = (await pagesOf({ contactEmailPrefix: 'p' }, 4_999)).flat();
  const sorted = await query<{ id: string }>(
    given.store.fork(),
    'select id from messages order by contact_email collate "C", created_at desc, id desc',
    [],
  );
  expect(ids).toEqual(sorted.map(({ id }) => id));
});

test.each<[Filter, number]>([
  [{ broadcastId: 'b1' }, 5_000],
  [{ notificationId: 'n' }, count / 3],
  [{ status: 'failed' }, 0],
  [{ isFailed: true }, count / 100],
  [{ isFailed: true, broadcastId: 'b1' }, 50],
  [{ contactEmail: 'p0@a.example', isSent: true }, count / 3],
  [{ sentBefore: early }, 6 * claim],
])('pages of %j hold each message once, in order', async (filter, total) => {
  const ids = (await pagesOf(filter, 99)).flat();
  const sorted = await query<{ id: string }>(
    given.store.fork(),
    'select id from messages where id = any($1::uuid[]) order by created_at desc, id desc',
    [ids],
  );
  expect(sorted.map(({ id }) => id)).toEqual(ids);
  expect(new Set(ids).size).toBe(total);
});
