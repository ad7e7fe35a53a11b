import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { SignatureError, verifyWebhook } from './index.ts';

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

test.each([
  ['text', body, headersOf()],
  ['bytes', Buffer.from(body), headersOf()],
  ['Headers', body, new Headers(headersOf())],
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
