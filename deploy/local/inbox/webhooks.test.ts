import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { until } from '../../../test/stack/until.ts';
import { freePort } from '../ports.ts';
import { Callbacks } from './callbacks.ts';
import type { InboxMailbox } from './mailbox.ts';
import { startWeb } from './web.ts';

const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const limits = { countMax: 5, bytesMax: 700_000 };
const noMails = {} as InboxMailbox;
let base = '';
let stop: () => Promise<void>;

beforeEach(async () => {
  const port = await freePort();
  const callbacks = new Callbacks(limits);
  const web = await startWeb({ box: noMails, callbacks }, { host: '127.0.0.1', port });
  base = `http://127.0.0.1:${port}`;
  stop = web.stop;
});
afterEach(() => stop());

type Listed = { number: number; type: string; verdict: string; reason: string; times: number };
type List = { total: number; webhooks: Listed[] };

async function get<Answer>(path: string): Promise<Answer> {
  return (await (await fetch(base + path)).json()) as Answer;
}
const listed = async (query = '') => (await get<List>(`/api/webhooks${query}`)).webhooks;
const textOf = async (path: string) => (await fetch(base + path)).text();

function putSecret(name: string, value: unknown = secret): Promise<Response> {
  const body = JSON.stringify({ secret: value });
  return fetch(`${base}/api/webhooks/${name}/secret`, { method: 'PUT', body });
}

type Sample = { id?: string; type?: string; at?: Date; signed?: string; body?: string };

/** Sends a webhook; `signed` is the body that its signature is for, if not its own. */
function send(to: string, sample: Sample = {}, signal?: AbortSignal): Promise<Response> {
  const { id = 'one', type = 'contact.created', at = new Date() } = sample;
  const body = sample.body ?? JSON.stringify({ id, type, data: { name: 'Zoë' } });
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(at.getTime() / 1_000)}`,
    'webhook-signature': new Webhook(secret).sign(id, at, sample.signed ?? body),
    'postrider-attempt': '1',
  };
  return fetch(`${base}/webhooks/in/${to}`, { method: 'POST', headers, body, signal });
}

test('a webhook is verified by the secret of its name, and not without one', async () => {
  expect((await putSecret('demo')).status).toBe(200);
  expect((await send('demo')).status).toBe(204);
  await send('other');
  expect(await listed()).toMatchObject([
    { name: 'other', verdict: 'unknown secret', reason: 'no secret is known for “other”' },
    { name: 'demo', verdict: 'verified', reason: '', type: 'contact.created', attempt: '1' },
  ]);
});

test.each<[string, Sample, string]>([
  ['a changed body', { signed: '{}' }, 'No matching signature found'],
  ['an old time', { at: new Date(Date.now() - 301_000) }, 'Message timestamp too old'],
  ['a time ahead', { at: new Date(Date.now() + 310_000) }, 'Message timestamp too new'],
])('%s is not verified, and its page says why', async (_, sample, reason) => {
  await putSecret('demo');
  await send('demo', sample);
  const [it] = await listed();
  expect(it).toMatchObject({ verdict: 'not verified', reason });
  expect(await textOf(`/webhooks/${it?.number}`)).toContain(reason);
});

test('a request without an event or the headers of webhooks is kept as well', async () => {
  await putSecret('demo');
  await fetch(`${base}/webhooks/in/demo`, { method: 'POST', body: '<b>hello' });
  expect(await listed()).toMatchObject([
    { type: '', id: '', times: 1, verdict: 'not verified', reason: 'Missing required headers' },
  ]);
  expect(await textOf('/webhooks/1')).toContain('&lt;b&gt;hello');
});

test('counts tell events, different ids and verified ones by type', async () => {
  await putSecret('demo');
  for (const id of ['one', 'two', 'two']) await send('demo', { id });
  await send('demo', { id: 'three', type: 'email.sent', signed: 'another' });
  await send('other', { id: 'one' });
  expect(await get('/api/webhooks/counts?name=demo')).toEqual({
    events: 4,
    distinct: 3,
    verified: 3,
    types: {
      'contact.created': { events: 3, distinct: 2, verified: 3 },
      'email.sent': { events: 1, distinct: 1, verified: 0 },
    },
  });
  expect((await listed()).map(({ times }) => times)).toEqual([1, 1, 2, 1, 1]);
});

test('the newest are kept, within a count and within bytes', async () => {
  for (let at = 1; at <= 7; at += 1) await send('demo', { id: `${at}` });
  expect((await listed()).map(({ number }) => number)).toEqual([7, 6, 5, 4, 3]);
  expect((await fetch(`${base}/webhooks/2`)).status).toBe(404);
  expect((await fetch(`${base}/webhooks/3`)).status).toBe(200);
  const body = JSON.stringify({ type: 'large', filler: 'x'.repeat(299_000) });
  for (const id of ['a', 'b', 'c']) expect((await send('demo', { id, body })).status).toBe(204);
  expect((await listed()).map(({ number }) => number)).toEqual([10, 9]);
});

test('a body above 300 KiB is refused, and the next webhook accepted', async () => {
  expect((await send('demo', { body: 'x'.repeat(300 * 1024 + 1) })).status).toBe(413);
  expect((await send('demo', { body: 'x'.repeat(300 * 1024) })).status).toBe(204);
  expect(await listed()).toHaveLength(1);
});

test('the address says which status is answered, and how late', async () => {
  expect((await send('demo?status=503')).status).toBe(503);
  expect((await send('demo?status=100')).status).toBe(400);
  expect((await send('demo?delay_ms=30001')).status).toBe(400);
  const impatient = new AbortController();
  const late = send('demo?delay_ms=30000', { id: 'late' }, impatient.signal);
  await until('it is shown before it is answered', async () => (await listed()).length === 2);
  impatient.abort();
  await expect(late).rejects.toThrow();
  expect((await send('demo?delay_ms=1&status=200')).status).toBe(200);
});

test('names are short and plain, and a secret is one of Standard Webhooks', async () => {
  expect((await send('Demo')).status).toBe(404);
  expect((await send('d'.repeat(41))).status).toBe(404);
  for (const bad of [null, 7, '', 'whsec_', 'whsec_'.padEnd(2_000, 'A')]) {
    expect((await putSecret('demo', bad)).status).toBe(400);
  }
});

test('lists have pages and a filter, and delete removes all but the secrets', async () => {
  await putSecret('demo');
  for (const type of ['email.sent', 'email.opened', 'email.sent']) await send('demo', { type });
  expect(await listed('?type=email.sent&limit=1&offset=1')).toMatchObject([{ number: 1 }]);
  expect(await textOf('/webhooks?type=email.opened')).toContain('1 webhook of <b>email.opened</b>');
  await fetch(`${base}/api/webhooks`, { method: 'DELETE' });
  expect(await listed()).toEqual([]);
  await send('demo');
  expect(await listed()).toMatchObject([{ verdict: 'verified' }]);
});

test('a body is shown with line breaks, and its numbers as they came', async () => {
  await send('demo', { body: '{"type":"t","large":12345678901234567890}' });
  expect(await textOf('/webhooks/1')).toContain('\n  &quot;large&quot;: 12345678901234567890\n}');
});

test('pages escape what was sent, and have no script', async () => {
  const evil = '<script>alert(1)</script>';
  await send('demo', { type: evil, body: JSON.stringify({ type: evil, data: evil }) });
  for (const path of ['/webhooks', '/webhooks/1', '/webhooks?type=<script>&name=<script>']) {
    const answer = await fetch(base + path);
    expect(await answer.text()).not.toContain('<script>');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  }
});
