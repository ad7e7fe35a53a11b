import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import {
  type CountMessageFactsRequestSchema,
  type ListMessageFactsRequestSchema,
  MessageFactKind,
} from '#gen/postrider/messages/v1/facts_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { factKinds } from '../facts/kinds.ts';
import { useService } from '../test/given.ts';

const given = useService();
const times = factKinds.map(({ column }) => column);
const startMs = Date.parse('2030-01-01T00:00:00Z');
const minute = (number: number) => timestampFromDate(new Date(startMs + number * 60_000));
const ids = ['a', 'b', 'c'].map((letter) => `${letter.repeat(8)}-0000-4000-8000-000000000000`);

/** A message to which everything happened, minute by minute. */
beforeAll(async () => {
  const people = ['ann@a.example', 'bob@a.example', 'cid@a.example', ''];
  await query(
    given.store.fork(),
    `insert into messages (workspace_id, id, contact_email, broadcast_id, template_id, template_version, integration_id, status,
       attempts, created_at, updated_at, ${times.join(', ')})
     select workspace_id, case when email = 'ann@a.example' then id else gen_random_uuid() end, email,
       case when place = 1 then 'b1' end, 'template-' || place, 3, 'i', 'sent', 1, $3, $3,
       ${times.map((_, index) => `$3::timestamptz + interval '${index} minutes'`).join(', ')}
     from unnest('{w,x}'::text[]) as workspace_id, unnest($1::text[]) as email,
       unnest($2::uuid[]) with ordinality as message (id, place)
     where place = 1 or email in ('ann@a.example', '')`,
    [people, ids, new Date(startMs)],
  );
});

type Count = MessageInitShape<typeof CountMessageFactsRequestSchema>;
type List = MessageInitShape<typeof ListMessageFactsRequestSchema>;

async function count(request: Count) {
  const { emails, counts } = await given.facts.countMessageFacts({
    workspaceId: 'w',
    kind: MessageFactKind.OPENED,
    ...request,
  });
  return Object.fromEntries(emails.map((email, index) => [email, counts[index]]));
}

async function list(request: List) {
  const { facts } = await given.facts.listMessageFacts({
    workspaceId: 'w',
    email: 'ann@a.example',
    limit: 101,
    ...request,
  });
  return facts;
}

test('messages of addresses are counted once for each address, and none for an unknown one', async () => {
  const emails = ['ann@a.example', 'bob@a.example', 'ann@a.example', 'eve@a.example', ''];
  expect(await count({ emails })).toEqual({ 'ann@a.example': 3, 'bob@a.example': 1 });
});

test('messages of a range of addresses are counted from behind its beginning up to its end', async () => {
  expect(await count({ lastEmail: 'bob@a.example' })).toEqual({
    'ann@a.example': 3,
    'bob@a.example': 1,
  });
  expect(await count({ afterEmail: 'ann@a.example', lastEmail: 'cid@a.example' })).toEqual({
    'bob@a.example': 1,
    'cid@a.example': 1,
  });
});

test.each<[Count, number]>([
  [{ templateId: 'template-2' }, 1],
  [{ templateId: 'template-9' }, 0],
  [{ since: minute(2) }, 3],
  [{ since: minute(3) }, 0],
  [{ until: minute(2) }, 0],
  [{ until: minute(3) }, 3],
  [{ kind: MessageFactKind.UNSUBSCRIBED, since: minute(6), until: minute(7) }, 3],
])('%j counts %d messages', async (request, expected) => {
  const emails = ['ann@a.example'];
  expect((await count({ ...request, emails }))['ann@a.example'] ?? 0).toBe(expected);
  const range = { afterEmail: 'ann', lastEmail: 'ann@a.example' };
  expect((await count({ ...request, ...range }))['ann@a.example'] ?? 0).toBe(expected);
});

test.each<[Count, string]>([
  [{}, 'either emails or last_email is required'],
  [{ emails: ['a@a.example'], lastEmail: 'b' }, 'either emails or last_email is required'],
  [{ emails: ['a@a.example'], kind: 99 as never }, 'invalid kind'],
  [{ emails: ['a'], since: { seconds: 1n << 60n } }, 'since must lie in the years 1 to 9999'],
])('%# is refused', async (request, text) => {
  await expect(count(request)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: text,
  });
});

test('the facts about messages of an address are listed newest first, in pages', async () => {
  const all = await list({});
  expect(all).toHaveLength(21);
  expect(all[0]).toMatchObject({
    id: `${ids[2]}:unsubscribed`,
    kind: MessageFactKind.UNSUBSCRIBED,
    messageId: ids[2],
    templateId: 'template-3',
    templateVersion: 3,
    broadcastId: '',
    channel: 'email',
    occurredAt: minute(6),
  });
  expect(all.at(-1)).toMatchObject({ id: `${ids[0]}:sent`, broadcastId: 'b1' });
  const paged: string[] = [];
  let last: (typeof all)[number] | undefined;
  do {
    const page = await list({
      limit: 4,
      ...(last && { until: last.occurredAt, untilId: last.id }),
    });
    paged.push(...page.map(({ id }) => id));
    last = page.at(-1);
  } while (last);
  expect(paged).toEqual(all.map(({ id }) => id));
});

test('kinds and times are filters, and an erased address has nothing', async () => {
  const kinds = [MessageFactKind.SENT, MessageFactKind.CLICKED];
  expect((await list({ kinds })).map(({ kind }) => kind)).toEqual([4, 4, 4, 1, 1, 1]);
  const facts = await list({ since: minute(1), until: minute(3) });
  expect(
    new Set(facts.map(({ occurredAt }) => occurredAt && timestampDate(occurredAt).getTime())),
  ).toEqual(new Set([startMs + 60_000, startMs + 120_000]));
  expect(await list({ email: 'eve@a.example' })).toEqual([]);
  await expect(list({ email: '' })).rejects.toMatchObject({ code: Code.InvalidArgument });
});

test('facts wait for connections of their own, and leave those of sending alone', async () => {
  const { promise: locked, resolve: isLocked } = Promise.withResolvers<void>();
  const { promise: done, resolve: release } = Promise.withResolvers<void>();
  const holder = given.store.fork().transactional(async (em) => {
    await query(em, 'lock table messages in access exclusive mode', []);
    isLocked();
    await done;
  });
  await locked;
  const answers = Array.from({ length: 6 }, () => count({ emails: ['ann@a.example'] }));
  const waiting = async () => {
    const [row] = await query<{ count: number }>(
      given.store.fork(),
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
      [],
    );
    return row?.count;
  };
  while ((await waiting()) !== 2);
  expect(await waiting()).toBe(2);
  release();
  await holder;
  expect(await Promise.all(answers)).toEqual(Array(6).fill({ 'ann@a.example': 3 }));
});
