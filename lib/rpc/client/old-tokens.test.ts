import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import type { AuthorizeResponse } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { oldTokenVerifier } from './old-tokens.ts';

const inAnHour = Math.floor(Date.now() / 1_000) + 3_600;
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const tokenOf = (subject: string, more: object = {}) =>
  [
    part({ alg: 'HS256' }),
    part({ type: 'api_key', sub: subject, exp: inAnHour, ...more }),
    'signature',
  ].join('.');

type Answer = Pick<AuthorizeResponse, 'active' | 'subject'>;
const subject = (userId: string): Answer => ({
  active: true,
  subject: {
    $typeName: 'postrider.workspaces.v1.TokenSubject',
    ...{ type: 'api_key', userId, sessionId: '', expiresAt: timestampFromMs(inAnHour * 1_000) },
  },
});

/** Workspaces, which knows the tokens of `good` alone. */
function givenVerifier(answer = async (): Promise<void> => {}, keptMs = 60_000) {
  const asked: string[] = [];
  const ask = async (token: string) => {
    asked.push(token);
    await answer();
    return token === tokenOf('good') ? subject('good') : { active: false };
  };
  // Counts are by the minute: for a test it is always the same one.
  const verify = oldTokenVerifier(ask, { keptMs, nowMs: () => 0 });
  return { asked, verify };
}

test('workspaces is asked once for a good token, and once for a wrong one', async () => {
  const { asked, verify } = givenVerifier();
  for (const _ of [1, 2]) {
    expect(await verify(tokenOf('good'), '203.0.113.1')).toMatchObject({
      claims: { type: 'api_key', subject: 'good', sessionId: '' },
    });
    expect(await verify(tokenOf('bad'), '203.0.113.1')).toBeUndefined();
  }
  expect(asked).toEqual([tokenOf('good'), tokenOf('bad')]);
});

test('calls at the same time with one token ask once', async () => {
  const { asked, verify } = givenVerifier();
  await Promise.all(Array.from({ length: 50 }, () => verify(tokenOf('good'), '203.0.113.1')));
  expect(asked).toHaveLength(1);
});

test.each([
  ['of a service', tokenOf('x', { type: 'service' })],
  ['that has expired', tokenOf('x', { exp: inAnHour - 7_200 })],
  ['without an end', tokenOf('x', { exp: undefined })],
  ['of nobody', tokenOf('x', { sub: undefined })],
  ['that is no JSON', `${part({ alg: 'HS256' })}.e30x.signature`],
])('workspaces is not asked for a token %s', async (_, token) => {
  const { asked, verify } = givenVerifier();
  expect(await verify(token, '203.0.113.1')).toBeUndefined();
  expect(asked).toEqual([]);
});

test('a client that sends wrong tokens is no longer asked for; others are, until all have sent too many', async () => {
  const { asked, verify } = givenVerifier();
  const answers = { refused: 0, later: 0 };
  const send = (name: string, client: string) =>
    verify(tokenOf(name), client).then(
      () => {
        answers.refused += 1;
      },
      ({ code }) => {
        expect(code).toBe(Code.Unavailable);
        answers.later += 1;
      },
    );
  for (let n = 0; n < 700; n += 1) await send(`bad${n}`, '203.0.113.1');
  expect(answers).toEqual({ refused: 600, later: 100 });
  expect(await verify(tokenOf('good'), '198.51.100.7')).toBeDefined();
  for (let n = 0; n < 7_000; n += 1) await send(`worse${n}`, `2001:db8:0:${n.toString(16)}::1`);
  expect(asked.length).toBe(6_001);
  // Clients with a verified token are not affected.
  expect(await verify(tokenOf('good'), '203.0.113.1')).toBeDefined();
});

test('at most 32 tokens are asked for at a time', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { asked, verify } = givenVerifier(() => promise);
  const calls = Array.from({ length: 40 }, (_, n) => verify(tokenOf(`t${n}`), `203.0.113.${n}`));
  const settled = Promise.allSettled(calls);
  expect(asked).toHaveLength(32);
  resolve();
  expect((await settled).filter(({ status }) => status === 'rejected')).toHaveLength(8);
});

test('a failure of workspaces is passed on and not kept', async () => {
  let isDown = true;
  const verify = oldTokenVerifier(async () => {
    if (isDown) throw new Error('down');
    return subject('good');
  });
  await expect(verify(tokenOf('good'), '')).rejects.toThrow('down');
  isDown = false;
  expect(await verify(tokenOf('good'), '')).toBeDefined();
});

test('a token that was good before is asked about again whatever its client has sent', async () => {
  const { verify } = givenVerifier(undefined, 1);
  const client = '203.0.113.1';
  expect(await verify(tokenOf('good'), client)).toBeDefined();
  for (let n = 0; n < 700; n += 1) await verify(tokenOf(`bad${n}`), client).catch(() => {});
  await expect(verify(tokenOf('new'), client)).rejects.toMatchObject({ code: Code.Unavailable });
  expect(await verify(tokenOf('good'), client)).toBeDefined();
});
