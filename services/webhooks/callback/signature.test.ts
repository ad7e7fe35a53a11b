import { expect, test } from '@jest/globals';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { signatureOf, signerOf } from '#lib/keys/webhook-signature.ts';
import { keyringOfAll } from '#lib/test/all-keys.ts';
import { openSigner, sealSecret } from './secret.ts';

const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const id = '11111111-2222-3333-4444-555555555555';

test('signs as Standard Webhooks say', () => {
  const body =
    '{"data":{"contact":{"email":"a@example.com"}},"id":"11111111-2222-3333-4444-555555555555","timestamp":"2026-01-02T03:04:05Z","type":"contact.created","workspace_id":"ws1"}';
  expect(signatureOf(signerOf(secret), id, '1767323045', body)).toBe(
    'v1,fmwefKPUQkCX/RD3O/I8ydwTWOAWN7Ge2WyJwSz0H/8=',
  );
});

const libraries = [
  ['standardwebhooks', new StandardWebhook(secret)],
  ['svix', new SvixWebhook(secret)],
] as const;

const body = '{"name":"Zoë Ångström 日本 🎉 \\u0000"}';
const timestamp = `${Math.floor(Date.now() / 1_000)}`;
const headers = {
  'webhook-id': id,
  'webhook-timestamp': timestamp,
  'webhook-signature': signatureOf(signerOf(secret), id, timestamp, body),
};

test.each(libraries)('%s verifies a body that is not ASCII', (_, library) => {
  expect(library.verify(body, headers)).toEqual(JSON.parse(body));
  expect(library.verify(Buffer.from(body), headers)).toEqual(JSON.parse(body));
});

test.each(libraries)('%s refuses a changed body, id or time', (_, library) => {
  const wrong = [
    [body.replace('Zoë', 'Zoe'), headers],
    [body, { ...headers, 'webhook-id': id.replace('1', '2') }],
    [body, { ...headers, 'webhook-timestamp': `${Number(timestamp) - 1}` }],
    [body, { ...headers, 'webhook-timestamp': `${Number(timestamp) - 3_600}` }],
  ] as const;
  for (const [changed, given] of wrong) {
    expect(() => library.verify(changed, given)).toThrow(/ature|imestamp/);
  }
});

test('a secret that was sealed for another subscription signs nothing, also where it is known', () => {
  const keyring = keyringOfAll('webhooks');
  const [own, other] = ['a', 'b'].map((each) => ({ workspaceId: 'w1', id: each.repeat(8) }));
  if (!own || !other) throw new Error('there are two');
  const sealed = sealSecret(keyring, own, secret);
  for (let time = 0; time < 2; time += 1) {
    const signed = signatureOf(openSigner(keyring, own, sealed), id, timestamp, body);
    expect(signed).toBe(headers['webhook-signature']);
    expect(() => openSigner(keyring, other, sealed)).toThrow();
  }
});
