import { createPublicKey } from 'node:crypto';
import type { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from '@jest/globals';
import { until } from '../../../test/stack/until.ts';
import { newDomainKey, verified } from '../test/given-domain.ts';
import { givenThreads } from '../test/given-signed.ts';
import { signingSeconds } from './metrics.ts';
import type { SigningDomain } from './signature.ts';
import type { SigningThreads } from './threads.ts';

const name = 'a.example';
const made = newDomainKey('ed25519', 'e1');
const domain: SigningDomain = { name, keys: [made.key] };
const records = new Map([[`e1._domainkey.${name}`, made.record]]);

const watching: ((worker: Worker) => void)[] = [];
afterEach(() => {
  for (const watch of watching.splice(0)) process.off('worker', watch);
});

/** The threads that this process starts from now on. */
function watchWorkers(): Worker[] {
  const started: Worker[] = [];
  const watch = (worker: Worker) => started.push(worker);
  watching.push(watch);
  process.on('worker', watch);
  return started;
}

const mailOf = (text: string) => Buffer.from(`From: a@${name}\r\nSubject: one\r\n\r\n${text}\r\n`);
function sign(
  threads: SigningThreads,
  mail: Buffer,
  by: () => SigningDomain | undefined | 'old',
  read: () => Promise<unknown> = async () => undefined,
) {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  threads.sign({ mail, domain: by, read, done: resolve });
  return promise;
}

const publicHalf = () => createPublicKey(made.key.key);
const known = () => domain;
const isGood = async (mail: Buffer, fields: string | undefined) =>
  (await verified(fields + mail.toString('latin1'), records)).join() === 'pass e1';

test.each([1, 3])('mails of any size are signed, each its own (threads: %p)', async (size) => {
  const threads = givenThreads(size);
  const mails = Array.from({ length: 100 }, (_, index) =>
    mailOf(`${index} ${'text '.repeat(index === 50 ? 200_000 : index * 20)}`),
  );
  const signed = await Promise.all(mails.map((mail) => sign(threads, mail, known)));
  const good = await Promise.all(mails.map((mail, index) => isGood(mail, signed[index])));
  expect(good).toEqual(mails.map(() => true));
  expect(threads.waiting).toBe(0);
});

test('mails of threads that end in the middle are signed by others', async () => {
  const threads = givenThreads();
  const started = watchWorkers();
  const mails = Array.from({ length: 200 }, (_, index) => mailOf(`${index}`));
  let answered = 0;
  const signed = await Promise.all(
    mails.map(async (mail) => {
      const fields = await sign(threads, mail, known);
      answered += 1;
      if (answered % 50 === 0) await started.at(-1)?.terminate();
      return fields;
    }),
  );
  expect(started.length).toBeGreaterThan(3);
  const good = await Promise.all(mails.map((mail, index) => isGood(mail, signed[index])));
  expect(good).toEqual(mails.map(() => true));
});

test('a mail that ends three threads is not signed, and the mails beside it are', async () => {
  const threads = givenThreads();
  const started = watchWorkers();
  const deadly = sign(threads, mailOf('deadly'), () => {
    // The thread is new, and announced by then.
    process.nextTick(() => started.at(-1)?.terminate());
    return domain;
  });
  const mails = Array.from({ length: 20 }, (_, index) => mailOf(`${index}`));
  const signed = await Promise.all(mails.map((mail) => sign(threads, mail, known)));
  expect(await deadly).toBeUndefined();
  const good = await Promise.all(mails.map((mail, index) => isGood(mail, signed[index])));
  expect(good).toEqual(mails.map(() => true));
});

test('a header that no mail of ours has is not signed', async () => {
  const threads = givenThreads();
  const large = Buffer.from(`From: a@${name}\r\n`.repeat(50_000));
  for (const mail of [large, Buffer.from('To: b@b.example\r\n\r\ntext'), Buffer.alloc(10)])
    expect(await sign(threads, mail, known)).toBeUndefined();
});

test('a mail is signed by the keys of the moment when it goes to a thread', async () => {
  const threads = givenThreads();
  let now: SigningDomain | undefined;
  const first = sign(threads, mailOf('one'), () => now);
  now = domain;
  expect(await isGood(mailOf('one'), await first)).toBe(true);
  expect(await sign(threads, mailOf('two'), () => undefined)).toBeUndefined();
});

test('a mail whose keys are old is signed once they are read, before the mails that wait', async () => {
  const threads = givenThreads();
  let now: SigningDomain | 'old' = 'old';
  const answered: string[] = [];
  const asked = async (text: string, by: Parameters<typeof sign>[2]) => {
    const fields = await sign(threads, mailOf(text), by, async () => {
      now = domain;
    });
    answered.push(text);
    return fields;
  };
  const late = asked('late', () => now);
  const others = Array.from({ length: 100 }, (_, index) => asked(`${index}`, known));
  expect(await isGood(mailOf('late'), await late)).toBe(true);
  expect(answered.length).toBeLessThan(50);
  await Promise.all(others);
});

test('a mail whose keys stay old is not signed after five reads', async () => {
  const threads = givenThreads();
  let reads = 0;
  const always = sign(
    threads,
    mailOf('text'),
    () => 'old',
    async () => {
      reads += 1;
    },
  );
  expect([await always, reads]).toEqual([undefined, 5]);
});

test('a mail whose keys are old and cannot be read is not signed, and others go on', async () => {
  const threads = givenThreads();
  const failing = () => Promise.reject(new Error('workspaces is down'));
  const good = mailOf('good');
  const signed = await Promise.all([
    sign(threads, mailOf('bad'), () => 'old', failing),
    sign(threads, good, known),
  ]);
  expect(signed[0]).toBeUndefined();
  expect(await isGood(good, signed[1])).toBe(true);
});

test('a mail whose keys are read when the threads are closed is answered', async () => {
  const threads = givenThreads();
  const reading = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const signed = sign(
    threads,
    mailOf('text'),
    () => 'old',
    () => {
      reading.resolve();
      return released.promise;
    },
  );
  await reading.promise;
  await threads.close();
  released.resolve();
  expect(await signed).toBeUndefined();
});

test('a domain that was forgotten is learned again', async () => {
  const threads = givenThreads();
  for (const text of ['one', 'two', 'three']) {
    expect(await isGood(mailOf(text), await sign(threads, mailOf(text), known))).toBe(true);
    threads.forget(domain);
  }
});

test('a key that cannot sign leaves its mails without signature, and others go on', async () => {
  const threads = givenThreads();
  // The public half signs nothing.
  const broken = { name, keys: [{ ...made.key, key: publicHalf() }] };
  const [bad, good] = [mailOf('bad'), mailOf('good')];
  const signed = await Promise.all([sign(threads, bad, () => broken), sign(threads, good, known)]);
  expect(signed[0]).toBeUndefined();
  expect(await isGood(good, signed[1])).toBe(true);
});

test('the time that mails wait for their signatures is measured', async () => {
  const count = async () => (await signingSeconds.get()).values.find(isCount)?.value ?? 0;
  const isCount = ({ metricName }: { metricName?: string }) => metricName?.endsWith('_count');
  const before = await count();
  const threads = givenThreads();
  await Promise.all([1, 2, 3].map((each) => sign(threads, mailOf(`${each}`), known)));
  expect(await count()).toBe(before + 3);
});

test('mails that wait when the threads are closed are answered', async () => {
  const threads = givenThreads();
  const signed = Array.from({ length: 50 }, () => sign(threads, mailOf('text'), known));
  await until('some wait', async () => threads.waiting > 0);
  await threads.close();
  expect(await Promise.all(signed)).toHaveLength(50);
});
