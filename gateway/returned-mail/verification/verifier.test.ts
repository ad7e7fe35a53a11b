import { Code } from '@connectrpc/connect';
import { afterAll, expect, test } from '@jest/globals';
import { startVerifier } from './verifier.ts';

const verifier = startVerifier();
afterAll(() => verifier.close());

const verify = async (head: string, tenant = 'w1') =>
  verifier.verify(
    {
      mail: Buffer.from(`${head}\r\n\r\nhi\r\n`),
      ...{ ip: '127.0.0.1', helo: 'mx.example', sender: '', host: 'inbound.example' },
      // No server is there.
      dnsServers: ['127.0.0.1:9'],
    },
    tenant,
  );

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

const busy = { code: Code.ResourceExhausted };

test('twenty mails may wait, and further ones come again', async () => {
  const results = await Promise.allSettled(
    Array.from({ length: 30 }, (_, at) => verify('From: a@b.example', `w${at}`)),
  );
  const refused = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  expect(refused).toHaveLength(10);
  expect(refused[0]).toMatchObject(busy);
}, 60_000);

test('two mails of a workspace may wait, and those of others still find room', async () => {
  const own = Array.from({ length: 20 }, () => verify('From: a@b.example'));
  const other = verify('From: a@b.example', 'w2');
  const results = await Promise.allSettled(own);
  const refused = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  expect(refused).toHaveLength(18);
  expect(refused[0]).toMatchObject(busy);
  await other;
}, 60_000);

test('a mail whose verifier is closed comes again, and has no verdict', async () => {
  const closing = startVerifier();
  const mail = { mail: Buffer.from('From: a@b.example\r\n\r\n'), ip: '127.0.0.1', helo: 'x' };
  const rest = { sender: '', host: 'inbound.example', dnsServers: [] };
  const asked = closing.verify({ ...mail, ...rest }, 'w1');
  const waiting = closing.verify({ ...mail, ...rest }, 'w2');
  await Promise.all([
    expect(asked).rejects.toMatchObject(busy),
    expect(waiting).rejects.toMatchObject(busy),
    closing.close(),
  ]);
});
