import { beforeEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';
import { attachment, givenMessage } from '../test/transactional.ts';
import { clearMessages, deleteSql } from './clear-messages.ts';

const given = useService();
resetAfterEach(given);
beforeEach(() => query(given.store.fork(), 'delete from messages', []));

const day = 24 * 60 * 60 * 1_000;
const daysAgo = (days: number) => new Date(Date.now() - days * day);
const run = async (messageDays: number) => {
  given.world.messageDays = messageDays;
  await clearMessages(given.newProcess().context).task();
};
const kept = async () => {
  const rows = await query<{ contact_email: string }>(
    given.store.fork(),
    'select contact_email from messages order by 1',
    [],
  );
  return rows.map(({ contact_email: email }) => email);
};
const givenAged = (contact_email: string, days: number, more: object = {}) =>
  givenMessage(given.store, { contact_email, created_at: daysAgo(days), ...more });

test('messages that are older than the workspace keeps them go, with what they were made from', async () => {
  const request = { data: { order: 7 } };
  const old = await givenAged('old', 91, { request, attachments: [attachment] });
  await givenAged('young', 89, { request });
  await run(0);
  expect(await kept()).toEqual(['old', 'young']);
  await run(90);
  expect(await kept()).toEqual(['young']);
  const requests = await query(
    given.store.fork(),
    'select 1 from message_requests where message_id = $1',
    [old],
  );
  expect(requests).toEqual([]);
});

test('what is still to be sent stays', async () => {
  await givenAged('scheduled', 100, { status: 'deferred', due_at: daysAgo(-1) });
  await givenAged('sending', 100, { status: 'sending' });
  await run(90);
  expect(await kept()).toEqual(['scheduled', 'sending']);
});

test('counts of a broadcast stay when its messages go', async () => {
  const batch = batchOf(people(3, 'counted'));
  await given.sender.sendBatch(batch);
  const key = { workspaceId: batch.workspaceId, broadcastId: batch.broadcastId };
  const before = await given.messages.getBroadcastStats(key);
  expect(before.stats?.totalSent).toBe(3);
  await query(given.store.fork(), 'update messages set created_at = $1', [daysAgo(91)]);
  await run(90);
  expect(await kept()).toEqual([]);
  expect(await given.messages.getBroadcastStats(key)).toEqual(before);
  const { stats } = await given.sender.listVariationStats({
    workspaceId: key.workspaceId,
    broadcastIds: [key.broadcastId],
  });
  expect(stats).toMatchObject([{ sent: 3 }]);
});

test('more than a step goes at once, by the index of times', async () => {
  await query(
    given.store.fork(),
    `insert into messages (workspace_id, id, contact_email, template_id, template_version, integration_id, status,
       attempts, created_at, updated_at)
     select 'w1', gen_random_uuid(), 'p' || number, 't', 1, 'i', 'sent', 1,
       now() - number * interval '1 hour', now()
     from generate_series(1, 4000) number`,
    [],
  );
  await query(given.store.fork(), 'analyze messages', []);
  const plan = await query<{ 'QUERY PLAN': string }>(given.store.fork(), `explain ${deleteSql}`, [
    'w1',
    daysAgo(90),
  ]);
  const text = plan.map((row) => row['QUERY PLAN']).join('\n');
  expect(text).toContain('messages_newest');
  expect(text).not.toContain('Seq Scan on messages');
  await run(90);
  expect((await kept()).length).toBe(90 * 24 - 1);
});

test('requests of confirmation mails go once their links confirm no more', async () => {
  await query(given.store.fork(), 'delete from confirmations', []);
  await query(
    given.store.fork(),
    `insert into confirmations (workspace_id, email, list_id, mailed_at, asked_at) values
       ('w1', 'old', 'weekly', now() - interval '8 days', null),
       ('w1', 'asked again', 'weekly', now() - interval '8 days', now() - interval '6 days'),
       ('w1', 'young', 'weekly', now() - interval '6 days', null)`,
    [],
  );
  await run(0);
  const rows = await query(given.store.fork(), 'select email from confirmations order by 1', []);
  expect(rows).toEqual([{ email: 'asked again' }, { email: 'young' }]);
});
