import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, createClient } from '@connectrpc/connect';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { TrackingService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { createLinkReader } from '#lib/keys/signed-link.ts';
import { createTrackingReader, createTrackingTokens } from '#lib/keys/tracking-token.ts';
import { query } from '#lib/postgres/query.ts';
import { keyring, testTransport, userClaims } from '../../../test/setup/service.ts';
import { messagesRoutes } from '../service.ts';
import { batchOf, people, useService } from '../test/given.ts';
import { defaultContent } from '../test/given-peers.ts';

const workspaceId = 'w1';

const given = useService();
beforeAll(async () => {
  given.world.isTracked = true;
});
beforeEach(() => {
  given.sink.reset();
  given.world.content = {
    ...defaultContent,
    html: '<a href="https://a.example/?x=1&amp;y=2">a</a><a href="https://b.example/">b</a><a href="{{ unsubscribe_url }}">leave</a>',
  };
});

/** Sends a tracked broadcast and gives what stands in the mails by address. */
async function sent(count = 1) {
  const batch = batchOf(people(count));
  await given.sender.sendBatch(batch);
  const mails = await Promise.all(given.sink.bodies().map((body) => PostalMime.parse(body)));
  const found = mails.map(({ to, html = '' }) => ({
    email: to?.[0]?.address ?? '',
    open: /src="https:\/\/mail\.example\/t\/w1\/([\w-]{43})"/.exec(html)?.[1] ?? '',
    links: [...html.matchAll(/href="([^"]+)"/g)].map(([, url]) => url),
  }));
  return { batch, mails: found.toSorted((a, b) => a.email.localeCompare(b.email)) };
}

type Row = Record<'opened_at' | 'clicked_at' | 'bot_opened_at' | 'bot_clicked_at', string | null>;

const rowsOf = (broadcastId: string) =>
  query<Row>(
    given.store.fork(),
    `select opened_at, clicked_at, bot_opened_at, bot_clicked_at from messages where broadcast_id = $1
     order by contact_email`,
    [broadcastId],
  );

const clicksOf = (broadcastId: string) =>
  query(
    given.store.fork(),
    'select url, clicks, bot_clicks from link_clicks where broadcast_id = $1 order by url',
    [broadcastId],
  );

const hit = (token: string, more: { link?: number; isBot?: boolean } = {}) => ({
  workspaceId,
  token,
  isBot: false,
  ...more,
});

test('a tracked mail has a pixel and numbered links, and leads to no unsubscribe link of ours', async () => {
  const { mails } = await sent();
  const [{ open, links } = { open: '', links: [] }] = mails;
  expect(open).toHaveLength(43);
  expect(links).toEqual([
    `https://mail.example/r/w1/${open}/0`,
    `https://mail.example/r/w1/${open}/1`,
    expect.stringMatching(/^https:\/\/mail\.example\/u\/w1\//),
  ]);
  const { urls } = await given.tracking.getTrackedLinks({ workspaceId, token: open });
  // The last is what values may bring.
  expect(urls).toEqual(['https://a.example/?x=1&y=2', 'https://b.example/', '{{ url }}']);
});

test('a template can turn tracking off', async () => {
  given.world.content = { ...given.world.content, trackingDisabled: true };
  const { mails } = await sent();
  expect(mails[0]?.open).toBe('');
  expect(mails[0]?.links[1]).toBe('https://b.example/');
});

test('recordHits separates the first times of people and of bots, and counts a click as an open', async () => {
  const { batch, mails } = await sent(4);
  const [opened, clicked, scanned] = mails.map(({ open }) => open);
  await given.tracking.recordHits({
    hits: [
      hit(opened ?? ''),
      hit(clicked ?? '', { link: 1 }),
      hit(scanned ?? '', { isBot: true }),
      hit(scanned ?? '', { isBot: true, link: 0 }),
    ],
  });
  const set = (row: Row) =>
    Object.entries(row)
      .filter(([, at]) => at !== null)
      .map(([name]) => name);
  expect((await rowsOf(batch.broadcastId)).map(set)).toEqual([
    ['opened_at'],
    ['opened_at', 'clicked_at'],
    ['bot_opened_at', 'bot_clicked_at'],
    [],
  ]);
  const { stats } = await given.messages.getBroadcastStats({
    workspaceId,
    broadcastId: batch.broadcastId,
  });
  expect(stats).toMatchObject({ totalOpened: 2, totalClicked: 1 });
});

test('listVariationStats counts by template, people only', async () => {
  const { batch, mails } = await sent(3);
  await given.sender.sendBatch({
    ...batch,
    plan: { ...batch.plan, templateId: 'other' },
    emails: people(1, 'other'),
  });
  const [ann, bob] = mails.map(({ open }) => open);
  await given.tracking.recordHits({
    hits: [hit(ann ?? '', { link: 0 }), hit(bob ?? '', { isBot: true })],
  });
  const { broadcastId } = batch;
  const { stats } = await given.sender.listVariationStats({
    workspaceId,
    broadcastIds: [broadcastId, 'none'],
  });
  expect(stats).toMatchObject([
    { broadcastId, templateId: 'other', sent: 1, opened: 0 },
    { broadcastId, templateId: batch.plan.templateId, sent: 3, opened: 1, clicked: 1 },
  ]);
});

test('recordHits keeps the first time, and no time lies in the future', async () => {
  const { batch, mails } = await sent();
  const token = mails[0]?.open ?? '';
  const ahead = timestampFromDate(new Date(Date.now() + 3_600_000));
  await given.tracking.recordHits({ hits: [{ ...hit(token), occurredAt: ahead }] });
  const [first] = await rowsOf(batch.broadcastId);
  expect(new Date(first?.opened_at ?? 0).getTime()).toBeLessThanOrEqual(Date.now());
  await given.tracking.recordHits({ hits: [hit(token), hit(token)] });
  expect(await rowsOf(batch.broadcastId)).toEqual([first]);
});

test('only services may call recordHits', async () => {
  const { mails } = await sent();
  const transport = testTransport(messagesRoutes(given.context))(userClaims());
  const { recordHits } = createClient(TrackingService, transport);
  await expect(recordHits({ hits: [hit(mails[0]?.open ?? '')] })).rejects.toMatchObject({
    code: Code.PermissionDenied,
  });
});

test('recordHits counts the clicks on each link', async () => {
  const { batch, mails } = await sent(2);
  const [ann, bob] = mails.map(({ open }) => open);
  const both = [hit(ann ?? '', { link: 0 }), hit(bob ?? '', { link: 0 })];
  await given.tracking.recordHits({ hits: [...both, hit(ann ?? '', { link: 1, isBot: true })] });
  await given.tracking.recordHits({ hits: [...both, hit(ann ?? '', { link: 99 })] });
  expect(await clicksOf(batch.broadcastId)).toEqual([
    { url: 'https://a.example/?x=1&y=2', clicks: 4, bot_clicks: 0 },
    { url: 'https://b.example/', clicks: 0, bot_clicks: 1 },
  ]);
});

test('the clicks on a link that depends on the recipient count as one number', async () => {
  const url = 'https://a.example/{{ message_id }}';
  given.world.content = { ...given.world.content, html: `<a href="${url}">a</a>` };
  const { batch, mails } = await sent(2);
  for (const { open, links } of mails) {
    const [, signed = ''] = links[0]?.split(`/r/w1/${open}/0/`) ?? [];
    const { messageId } = createTrackingReader(keyring)(workspaceId, open) ?? {};
    const target = createLinkReader(keyring)(workspaceId, { token: open, number: 0, signed });
    expect(target).toBe(`https://a.example/${messageId}`);
  }
  await given.tracking.recordHits({ hits: mails.map(({ open }) => hit(open, { link: 0 })) });
  expect(await clicksOf(batch.broadcastId)).toEqual([{ url, clicks: 2, bot_clicks: 0 }]);
});

test('an address that is too long to be counted leads where it did, and holds up no other count', async () => {
  const long = `https://a.example/${Array.from({ length: 1_000 }, () => crypto.randomUUID().slice(0, 5)).join('')}`;
  const html = `<a href="${long}">a</a><a href="https://b.example/">b</a><a href="{{ contact.nothing }}${long}">c</a>`;
  given.world.content = { ...given.world.content, html };
  const { batch, mails } = await sent();
  const [{ open, links } = { open: '', links: [] }] = mails;
  expect([links[0], links[2]]).toEqual([long, long]);
  await given.tracking.recordHits({ hits: [0, 1, 2].map((link) => hit(open, { link })) });
  const clicks = await clicksOf(batch.broadcastId);
  expect(clicks).toContainEqual({ url: 'https://b.example/', clicks: 1, bot_clicks: 0 });
});

test('a person who clicks every link of a mail at once counts as a bot', async () => {
  const urls = Array.from({ length: 5 }, (_, index) => `<a href="https://${index}.example">x</a>`);
  given.world.content = { ...given.world.content, html: urls.join('') };
  const { batch, mails } = await sent();
  const token = mails[0]?.open ?? '';
  await given.tracking.recordHits({ hits: urls.map((_, link) => hit(token, { link })) });
  expect(await rowsOf(batch.broadcastId)).toMatchObject([{ opened_at: null, clicked_at: null }]);
  expect(await clicksOf(batch.broadcastId)).toHaveLength(5);
});

test('parallel batches over the same messages in any order all arrive', async () => {
  const { batch, mails } = await sent(100);
  const hits = mails.map(({ open }) => hit(open, { link: 0 }));
  const orders = Array.from({ length: 8 }, (_, index) => (index % 2 ? hits : hits.toReversed()));
  await Promise.all(orders.map((each) => given.tracking.recordHits({ hits: each })));
  expect(await clicksOf(batch.broadcastId)).toMatchObject([{ clicks: 800 }]);
});

test('hits with forged tokens, of another workspace and of deleted messages are dropped', async () => {
  const { batch, mails } = await sent();
  const token = mails[0]?.open ?? '';
  const gone = createTrackingTokens(keyring)(workspaceId, crypto.randomUUID(), Buffer.alloc(8));
  await given.tracking.recordHits({
    hits: [
      { ...hit(token), workspaceId: 'w2' },
      hit(`${token.slice(0, -4)}AAAA`),
      hit('x'),
      hit(gone, { link: 0 }),
    ],
  });
  expect(await rowsOf(batch.broadcastId)).toMatchObject([{ opened_at: null }]);
  await expect(given.tracking.getTrackedLinks({ workspaceId, token: gone })).rejects.toMatchObject({
    code: Code.NotFound,
  });
  await expect(given.tracking.getTrackedLinks({ workspaceId: 'w2', token })).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});

test('a repeat of a batch of hits counts nothing again', async () => {
  const { batch, mails } = await sent();
  const hits = [hit(mails[0]?.open ?? '', { link: 0 })];
  const batchId = crypto.randomUUID();
  for (let call = 0; call < 3; call += 1) await given.tracking.recordHits({ hits, batchId });
  expect(await clicksOf(batch.broadcastId)).toMatchObject([
    { url: 'https://a.example/?x=1&y=2', clicks: 1 },
  ]);
});

test.each([2_147_483_647, -2])(
  'a hit on the link %i, which no mail has, stops no other hit',
  async (link) => {
    const { batch, mails } = await sent();
    const token = mails[0]?.open ?? '';
    await given.tracking.recordHits({ hits: [hit(token, { link }), hit(token, { link: 1 })] });
    expect(await clicksOf(batch.broadcastId)).toMatchObject([
      { url: 'https://b.example/', clicks: 1 },
    ]);
  },
);
