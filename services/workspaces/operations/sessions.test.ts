import { Code } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import type { Claims } from '#lib/keys/keyring.ts';
import { createAuthorize } from '../members/authorize.ts';
import { givenRoot, signinRequest, useService } from '../test/given.ts';
import { claimsOf, givenKey, givenWorkspace } from '../test/given-key.ts';

const given = useService();
let root: Claims;
beforeEach(async () => {
  pass(25 * 60 * 60_000);
  root = await givenRoot(given);
});

function pass(ms: number): void {
  given.clock.now = new Date(given.clock.now.getTime() + ms);
}

async function anotherSession(email?: string): Promise<Claims> {
  pass(1_000);
  const { token } = await given.users.signInRoot(signinRequest(given.clock, email));
  return claimsOf(token);
}

async function isLive({ subject, sessionId }: Claims): Promise<boolean> {
  return (await createAuthorize(given.context)(subject, sessionId, '')).active;
}

test('listSessions shows the sessions of the caller that have not expired', async () => {
  const second = await anotherSession();
  await anotherSession('second@example.com');
  const { sessions } = await given.sessions(root).listSessions({});
  expect(sessions.map(({ id, isCurrent }) => [id, isCurrent])).toEqual([
    [second.sessionId, false],
    [root.sessionId, true],
  ]);
  const { createdAt, expiresAt } = sessions[0] ?? {};
  expect(Number(createdAt?.seconds) * 1000).toBe(given.clock.now.getTime() - 1_000);
  expect(Number(expiresAt?.seconds) - Number(createdAt?.seconds)).toBe(24 * 60 * 60);
});

test('revokeSession ends a session of the caller, and of nobody else', async () => {
  const second = await anotherSession();
  const foreign = await anotherSession('second@example.com');
  const sessions = given.sessions(root);
  for (const id of [foreign.sessionId, 'nonsense', crypto.randomUUID()]) {
    await expect(sessions.revokeSession({ id })).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: 'Session not found',
    });
  }
  await sessions.revokeSession({ id: second.sessionId });
  expect(await Promise.all([root, second, foreign].map(isLive))).toEqual([true, false, true]);
  await sessions.revokeSession({ id: root.sessionId });
  expect(await isLive(root)).toBe(false);
});

test('logout ends all sessions of the caller, and none of others', async () => {
  const second = await anotherSession();
  const foreign = await anotherSession('second@example.com');
  await given.sessions(root).logout({});
  expect(await Promise.all([root, second, foreign].map(isLive))).toEqual([false, false, true]);
});

test('an API key sees itself, and has no sessions', async () => {
  const workspaceId = await givenWorkspace(given, root);
  const { claims, email, id } = await givenKey(given, root, { workspaceId });
  const me = await given.sessions(claims).getMe({});
  expect(me).toMatchObject({
    user: { id, email, type: 'api_key' },
    workspaces: [{ id: workspaceId }],
  });
  expect(await given.sessions(claims).listSessions({})).toMatchObject({ sessions: [] });
  await expect(given.sessions(claims).logout({})).rejects.toMatchObject({
    code: Code.FailedPrecondition,
  });
  await expect(given.sessions(claims).revokeSession({ id: root.sessionId })).rejects.toMatchObject({
    code: Code.NotFound,
  });
  expect(await isLive(claims)).toBe(true);
});
