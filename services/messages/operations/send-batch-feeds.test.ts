import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { RecipientFeedSchema } from '#gen/postrider/messages/v1/messages_pb.ts';
import { headerPlace } from '#lib/keys/places.ts';
import { query } from '#lib/postgres/query.ts';
import { useFeedServer } from '../../../test/feed-server.ts';
import { keyring } from '../../../test/setup/service.ts';
import { until } from '../../../test/stack/until.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';
import { defaultContent } from '../test/given-peers.ts';

const given = useService();
const server = useFeedServer('{}');
resetAfterEach(given);

const none = { sent: 0, failed: 0, skipped: 0, deferred: 0, notStarted: 0, unknown: 0, outage: '' };

/** A batch whose recipients the feed server is asked about. */
function fedBatchOf(emails: string[], workspaceId = 'w1') {
  const batch = batchOf(emails, {
    recipientFeed: create(RecipientFeedSchema, { url: server.url, headers: [{ name: 'X-Key' }] }),
  });
  batch.workspaceId = workspaceId;
  const place = headerPlace(workspaceId, batch.broadcastId, 'X-Key');
  const [header] = batch.plan?.recipientFeed?.headers ?? [];
  if (header) header.sealedValue = keyring.letters.seal('secret', place);
  return batch;
}

/** The mails in the sink: to whom, and their HTML in one line. */
function mails() {
  const parsed = given.sink.bodies().map(async (raw) => {
    const { to, html } = await PostalMime.parse(Buffer.from(raw, 'latin1'));
    return { to: to?.[0]?.address, html: html?.trim() };
  });
  return Promise.all(parsed);
}

const emailOf = ({ body }: { body: Record<string, unknown> }) =>
  String((body.contact as { email: string }).email);

test('a global feed is given to Liquid, escaped like any value', async () => {
  given.world.content = { ...defaultContent, html: '<p>{{ global_feed.title }}</p>' };
  const globalFeedJson = '{"title":"Sale <now>"}';
  const batch = batchOf(people(2), { globalFeedJson });
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 2 });
  expect((await mails()).map(({ html }) => html)).toEqual(Array(2).fill('<p>Sale &lt;now&gt;</p>'));
});

test('each broadcast gets its own global feed', async () => {
  given.world.content = { ...defaultContent, html: '<p>[{{ global_feed.n }}]</p>' };
  const batch = batchOf(people(1));
  for (const n of [1, 2]) {
    const plan = { ...batch.plan, globalFeedJson: `{"n":${n}}` };
    await given.sender.sendBatch({ ...batch, broadcastId: `global-${n}`, plan });
  }
  expect((await mails()).map(({ html }) => html)).toEqual(['<p>[1]</p>', '<p>[2]</p>']);
});

test('a loop over a feed goes through the thread', async () => {
  given.world.content = {
    ...defaultContent,
    html: '<p>{% for item in recipient_feed.items %}[{{ item }}]{% endfor %}</p>',
  };
  server.behaviour = (_, response) => response.end('{"items":["a","b"]}');
  expect(await given.sender.sendBatch(fedBatchOf(people(1)))).toMatchObject({ ...none, sent: 1 });
  expect(given.sink.bodies().join('')).toContain('[a][b]');
});

test('a recipient feed is called for each recipient that may get mail, and for no other', async () => {
  given.world.content = { ...defaultContent, html: '<p>for {{ recipient_feed.for }}</p>' };
  given.world.skipReasons.set('p1@example.com', 'unsubscribed');
  given.world.fields.set('p0@example.com', { first_name: 'Zoë', custom_number_1: 7 });
  server.behaviour = (request, response) => response.end(JSON.stringify({ for: emailOf(request) }));
  const batch = fedBatchOf(people(3));
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 2, skipped: 1 });
  expect(server.requests.map(emailOf).sort()).toEqual(['p0@example.com', 'p2@example.com']);
  expect(server.requests.find((request) => emailOf(request).startsWith('p0'))).toMatchObject({
    headers: { 'x-key': 'secret' },
    body: {
      contact: { email: 'p0@example.com', first_name: 'Zoë', custom_number_1: 7 },
      broadcast: { id: batch.broadcastId, name: 'November' },
      list: { id: 'weekly', name: 'Weekly' },
      workspace: { id: 'w1', name: 'Acme' },
    },
  });
  for (const { to, html } of await mails()) expect(html).toBe(`<p>for ${to}</p>`);
});

test('a long integer of a feed stands in text and links as the feed wrote it', async () => {
  given.world.content = {
    ...defaultContent,
    html: '<p>{{ recipient_feed.id }} <a href="https://x.example/?id={{ recipient_feed.id }}">x</a></p>',
  };
  server.behaviour = (_, response) => response.end('{"id": 10215467823456789}');
  await given.sender.sendBatch(fedBatchOf(people(1)));
  const [mail] = await mails();
  expect(mail?.html).toMatch(
    /^<p>10215467823456789 <a href="https:\/\/x\.example\/\?id=10215467823456789[&"]/,
  );
});

test('a recipient feed of a broadcast to segments alone gets no list', async () => {
  const batch = fedBatchOf(people(1));
  const plan = { ...batch.plan, listId: '', listName: '' };
  expect(await given.sender.sendBatch({ ...batch, plan })).toMatchObject({ ...none, sent: 1 });
  expect(server.requests.at(-1)?.body).toMatchObject({ list: null });
});

test('a feed is called for five recipients of a batch at a time', async () => {
  let open = 0;
  let most = 0;
  server.behaviour = (_, response) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      response.end('{}');
    }, 5);
  };
  expect(await given.sender.sendBatch(fedBatchOf(people(60)))).toMatchObject({ ...none, sent: 60 });
  expect(most).toBe(5);
});

test('a feed is called a third time after two transient failures', async () => {
  let failures = 2;
  server.behaviour = (_, response) => {
    failures -= 1;
    response.writeHead(failures >= 0 ? 503 : 200).end('{}');
  };
  expect(await given.sender.sendBatch(fedBatchOf(people(1)))).toMatchObject({ ...none, sent: 1 });
  expect(server.requests.length).toBe(3);
});

test.each([
  [500, 3, 'recipient feed failed: HTTP error 500: Internal Server Error'],
  [404, 1, 'recipient feed failed: HTTP error 404: Not Found'],
])(
  'a feed that always answers %i is called %i times and is an outage',
  async (status, times, outage) => {
    server.behaviour = (_, response) => response.writeHead(status).end();
    const batch = fedBatchOf(people(1));
    expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, notStarted: 1, outage });
    expect(server.requests.length).toBe(times);
    expect(given.sink.total()).toBe(0);
  },
);

test('recipients without an answer of the feed get no mail, and no message stays claimed', async () => {
  server.behaviour = (request, response) =>
    response.writeHead(emailOf(request) === 'p3@example.com' ? 404 : 200).end('{}');
  const batch = fedBatchOf(people(30));
  const first = await given.sender.sendBatch(batch);
  expect(first.outage).toMatch(/^recipient feed failed: /);
  expect(first.sent).toBe(given.sink.total());
  expect(given.sink.received.has('p3@example.com')).toBe(false);
  const rows = await query<{ status: string }>(
    given.store.fork(),
    'select status from messages where broadcast_id = $1',
    [batch.broadcastId],
  );
  expect(rows.map(({ status }) => status)).toEqual(Array(first.sent).fill('sent'));
  server.behaviour = (_, response) => response.end('{}');
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 30 });
  expect(given.sink.duplicates()).toEqual([]);
});

test('a feed is not called again for a recipient with an outcome', async () => {
  const batch = fedBatchOf(people(4));
  await given.sender.sendBatch({ ...batch, emails: people(3) });
  await given.sender.sendBatch(batch);
  expect(server.requests.length).toBe(4);
});

test('an abort ends the calls to the feed at once', async () => {
  const abort = new AbortController();
  server.behaviour = () => abort.abort();
  const call = given.sender.sendBatch(fedBatchOf(people(50)), { signal: abort.signal });
  await expect(call).rejects.toMatchObject({ name: 'ConnectError' });
  expect(server.requests.length).toBeLessThanOrEqual(5);
  expect(given.sink.total()).toBe(0);
});

test('a feed on a private address is not called', async () => {
  const recipientFeed = create(RecipientFeedSchema, { url: 'https://10.0.0.1/feed' });
  const answer = await given.sender.sendBatch(batchOf(people(1), { recipientFeed }));
  expect(answer.outage).toBe(
    'recipient feed failed: request failed: the host is not an address that may be called; EGRESS_ALLOW opens private ranges',
  );
});

test('a feed that does not answer takes twenty calls of its workspace at a time, and others are asked', async () => {
  const stuck: (() => void)[] = [];
  server.behaviour = (request, response) => {
    if (emailOf(request).startsWith('stuck')) stuck.push(() => response.end('{}'));
    else response.end('{}');
  };
  const batches = Array.from({ length: 8 }, (_, index) =>
    fedBatchOf(people(10, `stuck${index}-`), 'slow'),
  );
  const calls = batches.map((batch) => given.sender.sendBatch(batch));
  await until('the slow workspace has its share', async () => stuck.length === 20);
  expect(await given.sender.sendBatch(fedBatchOf(people(10, 'quick')))).toMatchObject({ sent: 10 });
  expect(stuck).toHaveLength(20);
  server.behaviour = (_, response) => response.end('{}');
  for (const answer of stuck) answer();
  const answers = await Promise.all(calls);
  expect(answers.map(({ sent }) => sent)).toEqual(Array(8).fill(10));
});
