import { expect, test } from '@jest/globals';
import { type Algorithm, verified } from '../test/given-domain.ts';
import { givenSink } from '../test/given-pool.ts';
import { bodiesOf, givenSigner, givenThreads, sendSigned } from '../test/given-signed.ts';
import { randomMail } from '../test/random-mails.ts';

test.each([[['rsa']], [['ed25519']], [['rsa', 'ed25519']]] as [Algorithm[]][])(
  'random mails signed by %p arrive with signatures that a receiver takes',
  async (algorithms) => {
    const { domain, records } = givenSigner(...algorithms);
    const count = 20;
    const sink = await givenSink({}, count);
    const mails = await Promise.all(
      Array.from({ length: count }, (_, index) => randomMail(index, domain.name)),
    );
    const outcomes = await sendSigned(sink.port, mails, { domain, threads: givenThreads() });
    expect(outcomes.map(({ kind }) => kind)).toEqual(mails.map(() => 'accepted'));
    const results = await Promise.all(bodiesOf(sink, count).map((mail) => verified(mail, records)));
    expect(results).toEqual(mails.map(() => algorithms.map((algorithm) => `pass ${algorithm}`)));
  },
);

test.each(['a byte of the text', 'a byte of a signed field', 'a byte of the signature'])(
  'a mail with %s changed is not taken',
  async (what) => {
    const { domain, records } = givenSigner('rsa', 'ed25519');
    const sink = await givenSink({}, 10);
    const mails = await Promise.all(
      Array.from({ length: 10 }, (_, index) => randomMail(1_000 + index, domain.name)),
    );
    await sendSigned(sink.port, mails, { domain, threads: givenThreads() });
    for (const mail of bodiesOf(sink, 10)) {
      const places = {
        'a byte of the text': mail.indexOf('\r\n\r\n') + 20,
        'a byte of a signed field': mail.indexOf('\r\nSubject:') + 12,
        'a byte of the signature': mail.indexOf('; d=') + 5,
      };
      const at = places[what as keyof typeof places];
      const other = mail.charAt(at) === 'x' ? 'y' : 'x';
      const [first = ''] = await verified(mail.slice(0, at) + other + mail.slice(at + 1), records);
      expect(first).not.toMatch(/^pass/);
      expect(await verified(mail, records)).toEqual(['pass rsa', 'pass ed25519']);
    }
  },
);

test('mails whose keys are old when they go to a thread are signed by newer ones, and none is deferred', async () => {
  const { domain, records } = givenSigner('ed25519');
  const count = 40;
  const sink = await givenSink({}, count);
  const mails = await Promise.all(
    Array.from({ length: count }, (_, index) => randomMail(2_000 + index, domain.name)),
  );
  // Settings change after every third mail.
  let left = 0;
  let reads = 0;
  const domains = {
    keysNow: () => {
      left -= 1;
      return left < 0 ? 'old' : domain;
    },
    read: async () => {
      left = 3;
      reads += 1;
    },
  } as const;
  const outcomes = await sendSigned(sink.port, mails, {
    ...{ domain, domains, threads: givenThreads() },
  });
  expect(outcomes.map(({ kind }) => kind)).toEqual(mails.map(() => 'accepted'));
  expect(reads).toBeGreaterThan(5);
  const results = await Promise.all(bodiesOf(sink, count).map((mail) => verified(mail, records)));
  expect(results).toEqual(mails.map(() => ['pass ed25519']));
});
