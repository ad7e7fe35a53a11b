import { Code } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { useService } from '../test/given.ts';
import { listTagStats } from './list-tag-stats.ts';

const given = useService();
const workspaceId = 'stats';

/** Messages of a day, each with the times that it has. */
beforeAll(async () => {
  await query(
    given.store.fork(),
    `insert into messages (workspace_id, id, contact_email, template_id, template_version, integration_id, status,
       attempts, created_at, updated_at, tags, sent_at, delivered_at, opened_at, clicked_at, bounced_at, complained_at)
     select workspace_id, gen_random_uuid(), 'a@b.example', 't', 1, 'i', 'sent', 1, at, at, string_to_array(tags, ','),
       case when at_least >= 1 then at end, case when at_least >= 2 then at end, case when at_least >= 3 then at end,
       case when at_least >= 4 then at end, case when at_least = 5 then at end, case when at_least = 6 then at end
     from (values
       ('stats', timestamptz '2026-03-01 00:00Z', 'a,b', 4),
       ('stats', '2026-03-01 23:59:59.9Z', 'a', 5),
       ('stats', '2026-03-02 00:00Z', 'a', 6),
       ('stats', '2026-03-31 23:59Z', 'b', 0),
       ('stats', '2026-04-01 00:00Z', 'b', 1),
       ('stats', '2026-03-02 00:00Z', null, 1),
       ('other', '2026-03-02 00:00Z', 'a', 1)
     ) as given (workspace_id, at, tags, at_least)`,
    [],
  );
});

const ask = (over: object = {}) =>
  given.messages.listTagStats({ workspaceId, from: '2026-03-01', to: '2026-03-31', ...over });
const rowsOf = async (over: object = {}) =>
  (await ask(over)).stats.map(
    ({ tag, day, messages, sent, delivered, opened, clicked, bounced, complained }) =>
      [day, tag, messages, sent, delivered, opened, clicked, bounced, complained].join(' '),
  );

test('messages are counted by tag and day of UTC, those of the workspace alone', async () => {
  expect(await rowsOf()).toEqual([
    '2026-03-01 a 2 2 2 2 2 1 0',
    '2026-03-01 b 1 1 1 1 1 0 0',
    '2026-03-02 a 1 1 1 1 1 0 1',
    '2026-03-31 b 1 0 0 0 0 0 0',
  ]);
  expect(await rowsOf({ tag: 'b' })).toEqual([
    '2026-03-01 b 1 1 1 1 1 0 0',
    '2026-03-31 b 1 0 0 0 0 0 0',
  ]);
  expect(await rowsOf({ tag: 'B' })).toEqual([]);
});

test.each([
  [{ from: '2026-02-30' }, 'from must be a day such as 2026-11-26'],
  [{ from: '2026-03-01T00:00:00Z' }, 'from must be a day such as 2026-11-26'],
  [{ to: '1' }, 'to must be a day such as 2026-11-26'],
  [{ to: '2026-02-28' }, 'to must not be before from'],
  [{ to: '2026-04-01' }, 'from and to must span at most 31 days'],
])('days that are wrong are refused: %j', async (over, text) => {
  await expect(ask(over)).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: text });
});

test('more than a thousand tags are refused, and one of them is counted', async () => {
  await query(
    given.store.fork(),
    `insert into messages (workspace_id, id, contact_email, template_id, template_version, integration_id, status,
       attempts, created_at, updated_at, tags)
     select 'many', gen_random_uuid(), 'a@b.example', 't', 1, 'i', 'sent', 1, at, at, array['t' || number]
     from generate_series(1, 1001) number, (select timestamptz '2026-03-01Z' as at) times`,
    [],
  );
  await expect(ask({ workspaceId: 'many' })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'these days have more than 1000 tags: name one, or fewer days',
  });
  expect(await rowsOf({ workspaceId: 'many', tag: 't7' })).toHaveLength(1);
});

test('days with too many tagged messages are refused', async () => {
  const count = listTagStats(given.context, { messagesMax: 2 }) as unknown as (
    request: object,
  ) => Promise<{ stats: unknown[] }>;
  const days = { workspaceId, tag: '', from: '2026-03-01', to: '2026-03-02' };
  await expect(count(days)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'these days have more than 2 tagged messages: name fewer',
  });
  expect((await count({ ...days, to: '2026-03-01' })).stats).toHaveLength(2);
});

test('messages that each have tags of their own are refused before all are grouped', async () => {
  await query(
    given.store.fork(),
    `insert into messages (workspace_id, id, contact_email, template_id, template_version, integration_id, status,
       attempts, created_at, updated_at, tags)
     select 'own', gen_random_uuid(), 'a@b.example', 't', 1, 'i', 'sent', 1, at, at,
       array(select number || ':' || place from generate_series(1, 10) place where number > 0)
     from generate_series(1, 20000) number, (select timestamptz '2026-03-01Z' as at) times`,
    [],
  );
  const refusal = given.store.fork().transactional(async (em) => {
    // Grouping them takes several times as much.
    await query(em, `set local temp_file_limit = '1MB'`, []);
    const store = { fork: () => em } as unknown as typeof given.store;
    const context = { ...given.context, store };
    const count = listTagStats(context, { sampledAbove: 10_000 }) as unknown as (
      request: object,
    ) => Promise<object>;
    return count({ workspaceId: 'own', tag: '', from: '2026-03-01', to: '2026-03-31' });
  });
  await expect(refusal).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'these days have more than 1000 tags: name one, or fewer days',
  });
});
