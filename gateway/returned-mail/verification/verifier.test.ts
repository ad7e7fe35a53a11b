import { afterAll, expect, test } from '@jest/globals';
import { startVerifier } from './verifier.ts';

const verifier = startVerifier();
afterAll(() => verifier.close());

const verify = (head: string) =>
  verifier.verify({
    mail: Buffer.from(`${head}\r\n\r\nhi\r\n`),
    ...{ ip: '127.0.0.1', helo: 'mx.example', sender: '', host: 'inbound.example' },
    // No server is there.
    dnsServers: ['127.0.0.1:9'],
  });

const signature = 'From: a@b.example\r\nDKIM-Signature: v=1';

test.each([
  ['blanks', `${signature}${' '.repeat(32_000)}x`],
  ['folds', `${signature}${'\r\n x'.repeat(8_000)}`],
  ['brackets', `From: ${'<'.repeat(32_000)}`],
  ['addresses', `From: ${'a@b.example,'.repeat(2_500)}`],
  ['traces', `From: a@b.example\r\n${'Received: from x by y; d\r\n'.repeat(1_100)}X: y`],
])(
  'a header full of %s is read in time',
  async (_, head) => {
    expect(await verify(head)).not.toMatchObject({ problem: 'the mail took too long to verify' });
  },
  30_000,
);

test('a header beyond 32 KiB is not read', async () => {
  expect(
    await verify(`${signature}${' '.repeat(250_000)}x;\r\nX: ${'y'.repeat(70_000)}`),
  ).toMatchObject({
    dkim: [],
    problem: 'the header of the mail has more than 32 KiB',
  });
});

test('twenty mails may wait, and further ones come again', async () => {
  const results = await Promise.allSettled(
    Array.from({ length: 30 }, () => verify('From: a@b.example')),
  );
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(10);
}, 60_000);
