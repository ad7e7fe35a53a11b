import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterEach, expect, test } from '@jest/globals';
import { ListSendingDomainsResponseSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { createLog } from '#lib/log.ts';
import { cpuMs } from '../../../test/cpu-time.ts';
import { keyring } from '../../../test/setup/service.ts';
import type { SigningDomain } from '../dkim/signature.ts';
import { domainOf } from '../mime/headers.ts';
import { type GivenDomain, givenDomain } from '../test/given-domain.ts';
import { SendingDomains } from './sending-domains.ts';

type Answer = { answer: (domains: GivenDomain[]) => void; fail: (error: Error) => void };

/** Domains whose calls are answered by the test, in any order. */
function givenDomains() {
  const calls: Answer[] = [];
  const forgotten: SigningDomain[] = [];
  const domains = new SendingDomains({
    workspaces: {
      listSendingDomains: () => {
        const { promise, resolve, reject } =
          Promise.withResolvers<
            ReturnType<typeof create<typeof ListSendingDomainsResponseSchema>>
          >();
        const answer = (given: GivenDomain[]) =>
          resolve(create(ListSendingDomainsResponseSchema, { domains: given }));
        calls.push({ answer, fail: reject });
        return promise;
      },
    },
    keyring,
    log: createLog('messages', 'silent'),
    forget: (domain) => forgotten.push(domain),
  });
  const call = (index: number) => {
    const found = calls[index];
    if (!found) throw new Error(`there is no call ${index}`);
    return found;
  };
  return { domains, calls, call, forgotten };
}

const old = givenDomain([['ed25519', 'old']]).domain;
const next = givenDomain([['ed25519', 'next']]).domain;
const selectorsOf = (keys: SigningDomain | undefined | 'old') =>
  keys === 'old' ? keys : keys?.keys.map(({ selector }) => selector);
const now = (domains: SendingDomains) => selectorsOf(domains.keysNow('w1', 'sender.example'));

const clock = Date.now;
afterEach(() => {
  Date.now = clock;
});

/** Sets the clock of this process ahead. */
function ahead(ms: number): void {
  Date.now = () => clock() + ms;
}

test('calls of a moment share an answer, and the next ones use it', async () => {
  const { domains, calls, call } = givenDomains();
  expect(now(domains)).toBe('old');
  const reads = [domains.read('w1'), domains.read('w1')];
  call(0).answer([old]);
  const [first, second] = await Promise.all(reads);
  expect(first).toBe(second);
  expect(await domains.read('w1')).toBe(first);
  expect(calls).toHaveLength(1);
  expect(now(domains)).toEqual(['old']);
});

test('an answer that was asked for before a change, and comes after a newer one, is not used', async () => {
  const { domains, call, forgotten } = givenDomains();
  const early = domains.read('w1');
  domains.refresh('w1');
  const late = domains.read('w1');
  call(1).answer([next]);
  expect((await late).get('sender.example')?.given.signingKeys[0]?.selector).toBe('next');
  call(0).answer([old]);
  expect((await early).get('sender.example')?.given.signingKeys[0]?.selector).toBe('next');
  expect(now(domains)).toEqual(['next']);
  expect(forgotten).toEqual([]);
});

test('a reader whose answer is out of date when it comes waits for the newer one', async () => {
  const { domains, call, calls } = givenDomains();
  const early = domains.read('w1');
  domains.refresh('w1');
  call(0).answer([old]);
  await new Promise((done) => setImmediate(done));
  expect(calls).toHaveLength(2);
  call(1).answer([next]);
  expect((await early).get('sender.example')?.given.signingKeys[0]?.selector).toBe('next');
});

test('keys that the next answer does not have are forgotten, and the others stay the same', async () => {
  const { domains, call, forgotten } = givenDomains();
  const other = givenDomain([['ed25519', 'kept']], { name: 'other.example' }).domain;
  const reads = [domains.read('w1')];
  call(0).answer([old, other]);
  await Promise.all(reads);
  const kept = domains.keysNow('w1', 'other.example');
  const gone = domains.keysNow('w1', 'sender.example');
  domains.refresh('w1');
  expect(now(domains)).toBe('old');
  const again = domains.read('w1');
  call(1).answer([next, other]);
  await again;
  expect(forgotten).toEqual([gone]);
  expect(domains.keysNow('w1', 'other.example')).toBe(kept);
  expect(now(domains)).toEqual(['next']);
});

test('an answer counts for five seconds from when it was asked for, and is renewed while mails are signed', async () => {
  const { domains, call, calls } = givenDomains();
  const read = domains.read('w1');
  call(0).answer([old]);
  await read;
  ahead(2_000);
  expect(now(domains)).toEqual(['old']);
  expect(calls).toHaveLength(1);
  ahead(3_000);
  expect([now(domains), now(domains)]).toEqual([['old'], ['old']]);
  expect(calls).toHaveLength(2);
  ahead(5_000);
  // The second call has no answer yet.
  expect(now(domains)).toBe('old');
  call(1).answer([next]);
  await domains.read('w1');
  expect(now(domains)).toEqual(['next']);
  ahead(8_100);
  expect(now(domains)).toBe('old');
});

test('a call that is said to be unknown after it was answered fails', async () => {
  const { domains, call } = givenDomains();
  const read = domains.read('w1');
  call(0).answer([{ ...old, isHeld: true }]);
  await read;
  for (const [index, workspaceId] of ['w1', 'w2'].entries()) {
    domains.refresh(workspaceId);
    const failed = domains.read(workspaceId);
    call(1 + index).fail(new ConnectError('not known there', Code.Unimplemented));
    await expect(failed).rejects.toMatchObject({ code: Code.Unavailable });
  }
  expect(now(domains)).toBe('old');
});

test('an answer without domains shows that the call is known', async () => {
  const { domains, call } = givenDomains();
  const first = domains.read('w1');
  call(0).answer([]);
  await first;
  const failed = domains.read('w2');
  call(1).fail(new ConnectError('not known there', Code.Unimplemented));
  await expect(failed).rejects.toMatchObject({ code: Code.Unavailable });
});

test('an error is not kept, and a service of the last release has no domains', async () => {
  const { domains, call } = givenDomains();
  const failed = domains.read('w1');
  call(0).fail(new ConnectError('down', Code.Unavailable));
  await expect(failed).rejects.toThrow('down');
  const read = domains.read('w1');
  call(1).fail(new ConnectError('unknown method', Code.Unimplemented));
  expect([...(await read)]).toEqual([]);
  expect(now(domains)).toBeUndefined();
});

test('a hundred domains with two keys each cost nothing until they send', async () => {
  const { domains, call } = givenDomains();
  const { signingKeys } = givenDomain([
    ['rsa', 'r1'],
    ['ed25519', 'e1'],
  ]).domain;
  const many = Array.from({ length: 100 }, (_, index) => ({
    name: `d${index}.example`,
    signingKeys,
  }));
  const read = domains.read('w1');
  call(0).answer(many);
  const answer = await read;
  expect(answer.size).toBe(100);
  expect([...answer.values()].filter(({ openedKeys }) => openedKeys)).toEqual([]);
  expect(cpuMs(() => domains.keysNow('w1', 'none.example'))).toBeLessThan(5);
});

test.each([
  ['News@Sender.EXAMPLE', 'sender.example'],
  ['a@bücher.example', 'xn--bcher-kva.example'],
  ['"a@b"@c.example', 'c.example'],
  ['nobody', 'nobody'],
])('the domain of %s is %s', (email, domain) => {
  expect(domainOf(email)).toBe(domain);
});
