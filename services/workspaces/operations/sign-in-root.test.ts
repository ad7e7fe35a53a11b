import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { UserService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { keyring, serviceClaims } from '../../../test/setup/service.ts';
import { givenService, signinRequest, useService } from '../test/given.ts';

const given = useService();
beforeAll(() => {
  given.context.rootSignInsMax = 5;
});
beforeEach(async () => {
  given.context.rootSignInsMax = 5;
  await query(given.context.store.fork(), 'delete from attempts', []);
});

const refused = { code: Code.Unauthenticated, rawMessage: 'Invalid credentials' };

test('root signin returns a token of 24 hours and the user', async () => {
  const answer = await given.users.signInRoot(signinRequest(given.clock));
  expect(answer.user).toMatchObject({ type: 'user', email: 'root@example.com', name: 'Root User' });
  expect(answer.expiresAt && timestampDate(answer.expiresAt)).toEqual(
    new Date('2030-01-02T12:00:00Z'),
  );
  expect(await keyring.verifyToken(answer.token)).toMatchObject({
    type: 'user',
    subject: answer.user?.id,
  });
});

test.each([
  ['as it is sent', 'Second@Example.com'],
  ['in lower case', 'second@example.com'],
])('root signin accepts every configured address, signed %s', async (_, signed) => {
  const request = signinRequest(given.clock, signed);
  const answer = await given.users.signInRoot({ ...request, email: 'Second@Example.com' });
  expect(answer.user?.email).toBe('second@example.com');
});

test.each([
  ['an unknown address', { email: 'nobody@example.com' }],
  ['a wrong signature', { signature: '0'.repeat(64) }],
  ['a signature in upper case', (s: string) => ({ signature: s.toUpperCase() })],
  ['a signature of another length', { signature: 'ab' }],
])('root signin refuses %s with one text', async (_, change) => {
  const request = signinRequest(given.clock);
  const changed = typeof change === 'function' ? change(request.signature) : change;
  await expect(given.users.signInRoot({ ...request, ...changed })).rejects.toMatchObject(refused);
});

test.each([-61, 61])('root signin refuses a timestamp %d seconds off', async (seconds) => {
  const clock = { now: new Date(given.clock.now.getTime() + seconds * 1000) };
  await expect(given.users.signInRoot(signinRequest(clock))).rejects.toMatchObject(refused);
});

test.each([-60, 60])('root signin accepts a timestamp %d seconds off', async (seconds) => {
  const clock = { now: new Date(given.clock.now.getTime() + seconds * 1000) };
  await expect(given.users.signInRoot(signinRequest(clock))).resolves.toBeDefined();
});

test('root signin names the fields that are missing', async () => {
  await expect(given.users.signInRoot({ email: 'root@example.com' })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'Missing required fields: email, timestamp, signature',
  });
});

/** The next second, whose signature nobody has used. */
function nextRequest(email?: string) {
  given.clock.now = new Date(given.clock.now.getTime() + 1_000);
  return signinRequest(given.clock, email);
}

const limited = { code: Code.ResourceExhausted };

test('root signin refuses the sixth failed attempt in 5 minutes, and the count survives a restart', async () => {
  const wrong = { ...signinRequest(given.clock), signature: 'wrong' };
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await expect(given.users.signInRoot(wrong)).rejects.toMatchObject(refused);
  }
  await expect(given.users.signInRoot(wrong)).rejects.toMatchObject(limited);
  const restarted = await givenService(given.context.store.url);
  await expect(restarted.users.signInRoot(wrong)).rejects.toMatchObject(limited);
  await restarted.context.store.close();
  given.clock.now = new Date(given.clock.now.getTime() + 5 * 60_000 + 1);
  await expect(given.users.signInRoot(wrong)).rejects.toMatchObject(refused);
});

test('failed attempts do not lock out a caller with the right signature', async () => {
  const wrong = { ...signinRequest(given.clock), signature: 'wrong' };
  for (let attempt = 0; attempt < 6; attempt += 1) {
    await given.users.signInRoot(wrong).catch(() => {});
  }
  await expect(given.users.signInRoot(signinRequest(given.clock))).resolves.toBeDefined();
});

test('root signin accepts a right signature 5 times in 5 minutes', async () => {
  for (let attempt = 0; attempt < 5; attempt += 1) await given.users.signInRoot(nextRequest());
  await expect(given.users.signInRoot(nextRequest())).rejects.toMatchObject(limited);
  await expect(given.users.signInRoot(nextRequest('second@example.com'))).resolves.toBeDefined();
});

test('one client fails 50 times in 5 minutes at most, whatever the addresses', async () => {
  const from = (address: string) =>
    createClient(UserService, given.transport(serviceClaims, { 'x-client-address': address }));
  const wrong = (n: number) => ({ ...signinRequest(given.clock, `no${n}@example.com`) });
  for (let attempt = 0; attempt < 50; attempt += 1) {
    await expect(from('203.0.113.7').signInRoot(wrong(attempt))).rejects.toMatchObject(refused);
  }
  await expect(from('203.0.113.7').signInRoot(wrong(50))).rejects.toMatchObject(limited);
  await expect(from('203.0.113.8').signInRoot(wrong(51))).rejects.toMatchObject(refused);
});

test('a success clears the count', async () => {
  const wrong = { ...signinRequest(given.clock), signature: 'wrong' };
  for (let round = 0; round < 2; round += 1) {
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await expect(given.users.signInRoot(wrong)).rejects.toMatchObject(refused);
    }
    await given.users.signInRoot(nextRequest());
  }
});

/**
 * The headers of an attempt: limit, remaining, seconds until the first attempt no longer counts.
 */
async function limitsTold(request: object): Promise<(string | null)[]> {
  let header = new Headers();
  const onHeader = (received: Headers) => {
    header = received;
  };
  await given.users.signInRoot(request, { onHeader }).catch((error: unknown) => {
    header = ConnectError.from(error).metadata;
  });
  const fields = `${header.get('ratelimit-policy')} ${header.get('ratelimit')}`;
  return ['q', 'r', 't'].map((name) => new RegExp(`;${name}=(\\d+)`).exec(fields)?.[1] ?? null);
}

test('every answer has the remaining attempts and the end of the window', async () => {
  const wrong = { ...signinRequest(given.clock), signature: 'wrong' };
  expect(await limitsTold(wrong)).toEqual(['5', '4', '300']);
  given.clock.now = new Date(given.clock.now.getTime() + 10_000);
  expect(await limitsTold(wrong)).toEqual(['5', '3', '290']);
  for (let attempt = 0; attempt < 4; attempt += 1) await limitsTold(wrong);
  expect(await limitsTold(wrong)).toEqual(['5', '0', '290']);
  expect(await limitsTold(signinRequest(given.clock))).toEqual(['5', '4', '300']);
});

test('attempts for an unknown address are counted and answered like those for a known one', async () => {
  const unknown = signinRequest(given.clock, 'nobody@example.com');
  for (const remaining of ['4', '3', '2', '1', '0', '0']) {
    expect(await limitsTold(unknown)).toEqual(['5', remaining, '300']);
  }
  await expect(given.users.signInRoot(unknown)).rejects.toMatchObject({
    code: Code.ResourceExhausted,
  });
});

test('a signature works once, even for concurrent requests', async () => {
  const request = signinRequest(given.clock);
  const both = await Promise.allSettled([1, 2].map(() => given.users.signInRoot(request)));
  expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  given.clock.now = new Date(given.clock.now.getTime() + 60_000);
  await expect(given.users.signInRoot(request)).rejects.toMatchObject(refused);
  const elsewhere = { ...request, email: 'second@example.com' };
  await expect(given.users.signInRoot(elsewhere)).rejects.toMatchObject(refused);
});

test('a used signature counts as a failure: repeating one takes nothing from its owner', async () => {
  const used = nextRequest();
  await given.users.signInRoot(used);
  expect(await limitsTold(used)).toEqual(['5', '4', '300']);
  expect(await limitsTold(nextRequest())).toEqual(['5', '3', '299']);
});
