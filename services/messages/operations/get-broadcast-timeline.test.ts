import { timestampFromDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { timelineSql, timelineValues } from '../progress/timeline.ts';
import { useService } from '../test/given.ts';

const given = useService();
const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1_000);

type Mail = {
  sent?: number;
  opened?: number;
  delivered?: number;
  bounced?: number;
  softBounced?: number;
  complained?: number;
  class?: string;
  byHand?: boolean;
  workspaceId?: string;
  email?: string;
};

async function givenMails(mails: Mail[]): Promise<string> {
  const broadcastId = crypto.randomUUID();
  const time = (second: number | undefined) => (second === undefined ? null : at(second));
  await query(
    given.store.fork(),
    `insert into messages (workspace_id, id, contact_email, broadcast_id, template_id, template_version,
       integration_id, status, attempts, by_hand, created_at, updated_at, sent_at, opened_at,
       delivered_at, bounced_at, soft_bounced_at, complained_at, bounce_class)
     select workspace_id, gen_random_uuid(), email, $1, 't', 1, 'i', 'sent', 1, by_hand, $2, $2, sent_at, opened_at,
       delivered_at, bounced_at, soft_bounced_at, complained_at, class
     from unnest($3::text[], $4::bool[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[],
         $9::timestamptz[], $10::timestamptz[], $11::text[], $12::text[])
       as mail (workspace_id, by_hand, sent_at, opened_at, delivered_at, bounced_at, soft_bounced_at, complained_at, class, email)`,
    [
      broadcastId,
      at(0),
      mails.map(({ workspaceId }) => workspaceId ?? 'w1'),
      mails.map(({ byHand }) => byHand ?? false),
      mails.map(({ sent }) => time(sent)),
      mails.map(({ opened }) => time(opened)),
      mails.map(({ delivered }) => time(delivered)),
      mails.map(({ bounced }) => time(bounced)),
      mails.map(({ softBounced }) => time(softBounced)),
      mails.map(({ complained }) => time(complained)),
      mails.map((mail) => mail.class ?? null),
      mails.map(({ email }) => email ?? 'p@a.example'),
    ],
  );
  return broadcastId;
}

const span = (days: number) => ({
  since: timestampFromDate(at(0)),
  until: timestampFromDate(at(days * 86_400)),
});

test('messages are counted by the second while all fit', async () => {
  const broadcastId = await givenMails([
    { sent: 10, opened: 13 },
    { sent: 10 },
    { sent: 11 },
    {},
    { sent: 12, byHand: true },
    { sent: 12, workspaceId: 'w2' },
  ]);
  const asked = { workspaceId: 'w1', broadcastId, ...span(1) };
  const { since, step, sent, opened } = await given.progress.getBroadcastTimeline(asked);
  expect(timestampMs(since!)).toBe(at(10).getTime());
  expect(Number(step?.seconds)).toBe(1);
  expect({ sent, opened }).toEqual({ sent: [2, 1, 0, 0], opened: [0, 0, 0, 1] });
});

test('deliveries, returned mails and complaints are counted beside what was sent', async () => {
  const broadcastId = await givenMails([
    { sent: 10, delivered: 11, complained: 13 },
    { sent: 10, delivered: 12, softBounced: 12, class: 'soft' },
    { sent: 10, bounced: 11, softBounced: 13, class: 'hard' },
    { sent: 10, softBounced: 12, class: 'soft' },
    { sent: 10, bounced: 11, class: 'hard', byHand: true },
  ]);
  const asked = { workspaceId: 'w1', broadcastId, ...span(1) };
  expect(await given.progress.getBroadcastTimeline(asked)).toMatchObject({
    sent: [4, 0, 0, 0],
    delivered: [0, 1, 1, 0],
    returned: [0, 1, 2, 0],
    complained: [0, 0, 0, 1],
    bounces: [
      { class: 'soft', count: 2 },
      { class: 'hard', count: 1 },
    ],
  });
});

test('outcomes are counted by the receiver of the address', async () => {
  const broadcastId = await givenMails([
    { sent: 10, delivered: 11, complained: 13, email: 'a@gmail.com' },
    { sent: 10, delivered: 12, email: 'b@GoogleMail.com' },
    { sent: 10, softBounced: 12, class: 'soft', email: 'c@web.de' },
    { sent: 10, delivered: 11, email: 'd@firm.example' },
    { sent: 10, complained: 11, byHand: true, email: 'e@gmail.com' },
  ]);
  const asked = { workspaceId: 'w1', broadcastId, ...span(1) };
  expect((await given.progress.getBroadcastTimeline(asked)).receivers).toMatchObject([
    { receiver: 'google', sent: 2, delivered: 2, returned: 0, complained: 1 },
    { receiver: 'gmx', sent: 1, delivered: 0, returned: 1, complained: 0 },
    { receiver: 'other', sent: 1, delivered: 1, returned: 0, complained: 0 },
  ]);
});

test('a long broadcast has at most 200 stretches, and loses nothing', async () => {
  const mails = Array.from({ length: 1_000 }, (_, index) => ({
    sent: index * 600,
    opened: index % 3 === 0 ? index * 600 + 7 : undefined,
  }));
  const broadcastId = await givenMails(mails);
  const asked = { workspaceId: 'w1', broadcastId, ...span(30) };
  const { sent, opened } = await given.progress.getBroadcastTimeline(asked);
  expect(sent.length).toBeGreaterThan(100);
  expect(sent.length).toBeLessThanOrEqual(200);
  expect(opened).toHaveLength(sent.length);
  const sum = (counts: number[]) => counts.reduce((a, b) => a + b, 0);
  expect([sum(sent), sum(opened)]).toEqual([1_000, 334]);
});

test('a broadcast of which nothing was sent has no stretches', async () => {
  const asked = { workspaceId: 'w1', broadcastId: 'nobody', ...span(1) };
  const timeline = await given.progress.getBroadcastTimeline(asked);
  expect(timeline).toMatchObject({ sent: [], opened: [] });
  expect(timeline.since).toBeUndefined();
});

test('times in the wrong order are refused', async () => {
  const { since, until } = span(1);
  const asked = { workspaceId: 'w1', broadcastId: 'b', since: until, until: since };
  await expect(given.progress.getBroadcastTimeline(asked)).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});

/** The plan of the statement, as it ran. */
async function ran(broadcastId: string): Promise<string> {
  const seconds = [at(0), at(7 * 86_400)].map((time) => time.getTime() / 1_000);
  const [since = 0, until = 0] = seconds;
  const rows = await query<{ 'QUERY PLAN': string }>(
    given.store.fork(),
    `explain (analyze, costs off) ${timelineSql}`,
    timelineValues({ workspaceId: 'w1', broadcastId, since, until }),
  );
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

test('however many seconds it lasted, they are added up once', async () => {
  const mails = Array.from({ length: 3_000 }, (_, second) => ({ sent: second * 7 }));
  const plan = await ran(await givenMails(mails));
  const loops = [...plan.matchAll(/(?:Aggregate|CTE Scan|Sort).*loops=(\d+)/g)].map(
    ([, count]) => count,
  );
  expect(loops.length).toBeGreaterThan(0);
  expect(new Set(loops)).toEqual(new Set(['1']));
});

test('it reads the messages of the broadcast alone, by their index', async () => {
  const others = Array.from({ length: 20_000 }, () => ({ sent: 1 }));
  await givenMails(others);
  const plan = await ran(await givenMails([{ sent: 1 }]));
  expect(plan).toContain('messages_broadcast');
  expect(plan).not.toContain('Seq Scan on messages');
});
