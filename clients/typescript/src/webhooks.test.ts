import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { PostriderError, SignatureError, verifyWebhook } from './index.ts';

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const newer = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const body = JSON.stringify({
  id: 'd1',
  type: 'contact.created',
  data: { email: 'jörg@example.com' },
});

/** Headers as a server of Standard Webhooks makes them. */
function headersOf(signer = secret, at = new Date()) {
  return {
    'webhook-id': 'd1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(signer).sign('d1', at, body),
  };
}

type Named = Record<string, string>;

function inCapitals(headers: Named): Named {
  const entries = Object.entries(headers);
  return Object.fromEntries(entries.map(([name, value]) => [name.toUpperCase(), value]));
}

function inLists(headers: Named): Record<string, string[]> {
  const entries = Object.entries(headers);
  return Object.fromEntries(entries.map(([name, value]) => [name, [value]]));
}

function signedToo(other: string, headers: Named): Named {
  return { ...headers, 'webhook-signature': `${other}${headers['webhook-signature']}` };
}

test.each([
  ['text', body, headersOf()],
  ['bytes', Buffer.from(body), headersOf()],
  ['an ArrayBuffer', new Uint8Array(Buffer.from(body)).buffer, headersOf()],
  ['Headers', body, new Headers(headersOf())],
  ['names in capitals', body, inCapitals(headersOf())],
  ['lists of values', body, inLists(headersOf())],
  ['a second signature of another version', body, signedToo('v2,AA== ', headersOf())],
  ['a second signature of another key', body, signedToo('v1,AAAA ', headersOf())],
])('the event of a signed delivery is given for %s', async (_, payload, headers) => {
  const event = await verifyWebhook({ body: payload, headers, secret });
  expect(event.type === 'contact.created' && event.data).toEqual({ email: 'jörg@example.com' });
});

test('either of two secrets may have signed it', async () => {
  const delivery = { body, headers: headersOf(newer), secret: [secret, newer] };
  await expect(verifyWebhook(delivery)).resolves.toMatchObject({ id: 'd1' });
});

const changed = { ...headersOf(), 'webhook-id': 'd2' };
const old = headersOf(secret, new Date(Date.now() - 6 * 60_000));
const early = headersOf(secret, new Date(Date.now() + 6 * 60_000));
const { 'webhook-signature': _, ...unsigned } = headersOf();

test.each([
  ['another body', { body: `${body} `, headers: headersOf() }],
  ['another id', { body, headers: changed }],
  ['another secret', { body, headers: headersOf(newer) }],
  ['an old timestamp', { body, headers: old }],
  ['a timestamp of the future', { body, headers: early }],
  ['no timestamp', { body, headers: { ...headersOf(), 'webhook-timestamp': 'x' } }],
  ['no signature', { body, headers: unsigned }],
  [
    'a signature that is not base64',
    { body, headers: { ...headersOf(), 'webhook-signature': 'v1,*' } },
  ],
])('a delivery with %s is refused', async (_, delivery) => {
  await expect(verifyWebhook({ ...delivery, secret })).rejects.toThrow(SignatureError);
});

test.each([
  ['an empty secret', ''],
  ['a prefix alone', 'whsec_'],
  ['no secret', undefined],
  ['no secrets', []],
  ['one that is empty beside the right one', [secret, '']],
  ['no base64', 'whsec_*'],
])('%s is an error of the program, and proves nothing', async (_, wrong) => {
  const verified = verifyWebhook({ body, headers: headersOf(), secret: wrong as string });
  await expect(verified).rejects.toThrow('secret');
  await expect(verified).rejects.toThrow(PostriderError);
  await expect(verified).rejects.not.toThrow(SignatureError);
});

test.each([
  ['parsed JSON', JSON.parse(body)],
  ['nothing', undefined],
])('%s in place of a body is an error of the program', async (_, parsed) => {
  const verified = verifyWebhook({ body: parsed as string, headers: headersOf(), secret });
  await expect(verified).rejects.toThrow('body');
  await expect(verified).rejects.toThrow(PostriderError);
  await expect(verified).rejects.not.toThrow(SignatureError);
});

test('a secret may have no prefix, and a line break behind it', async () => {
  const bare = `${secret.slice('whsec_'.length)}\n`;
  for (const each of [bare, `${secret}\n`]) {
    const verified = verifyWebhook({ body, headers: headersOf(), secret: each });
    await expect(verified).resolves.toMatchObject({ id: 'd1' });
  }
});

test.each(['', ' ', '-1', 'Infinity', '9'.repeat(400), '1e9', '0x10'])(
  'the timestamp %p is refused, whatever the tolerance',
  async (timestamp) => {
    const headers = {
      ...headersOf(),
      'webhook-timestamp': timestamp,
      'webhook-signature': signatureAt(timestamp),
    };
    const toleranceSeconds = Number.MAX_VALUE;
    const verified = verifyWebhook({ body, headers, secret, toleranceSeconds });
    await expect(verified).rejects.toThrow(SignatureError);
  },
);

/** The signature of a sender that knows the secret. */
function signatureAt(timestamp: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`d1.${timestamp}.${body}`).digest('base64')}`;
}

test('thousands of signatures cost one calculation', async () => {
  const large = Buffer.alloc(4 * 1_024 * 1_024, 'a');
  const headers = { ...headersOf(), 'webhook-signature': 'v1,AAAA '.repeat(2_000) };
  const before = process.cpuUsage();
  await expect(verifyWebhook({ body: large, headers, secret })).rejects.toThrow(SignatureError);
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
});
