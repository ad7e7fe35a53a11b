import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import type { Claims } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import { createAuthorize } from '../members/authorize.ts';
import { givenRoot, useService } from '../test/given.ts';
import { claimsOf, givenKey, givenWorkspace } from '../test/given-key.ts';

const given = useService();
const hourMs = 60 * 60_000;
let root: Claims;
let workspaceId: string;
beforeEach(async () => {
  pass(2_000);
  root = await givenRoot(given);
  workspaceId = await givenWorkspace(given, root);
});

function pass(ms: number): void {
  given.clock.now = new Date(given.clock.now.getTime() + ms);
}

const after = (ms: number) => timestampFromDate(new Date(given.clock.now.getTime() + ms));

/** Whether another replica, which has nothing cached, lets the token in. */
async function isLive({ subject, sessionId }: Claims): Promise<boolean> {
  return (await createAuthorize(given.context)(subject, sessionId, workspaceId)).active;
}

/** A key as the release before this one made it, with its token. */
async function givenOldKey(): Promise<{ id: string; claims: Claims }> {
  const id = crypto.randomUUID();
  const em = given.context.store.fork();
  await query(
    em,
    `insert into users (id, type, email, created_at, updated_at) values ($1, 'api_key', $2, $3, $3)`,
    [id, `${id.slice(0, 8)}@127.0.0.1:4400`, given.clock.now],
  );
  await query(
    em,
    `insert into members (workspace_id, user_id, role, permissions, created_at)
     values ($1, $2, 'member', '{"workspace": {"read": true, "write": true}}', $3)`,
    [workspaceId, id, given.clock.now],
  );
  return { id, claims: { type: 'api_key', subject: id, sessionId: '' } };
}

const listed = async () => (await given.keys(root).listAPIKeys({ workspaceId })).apiKeys;

test('listAPIKeys shows what a key may do, and no token', async () => {
  const key = await givenKey(given, root, {
    workspaceId,
    permissions: { contacts: { read: true, write: false } },
    allowedAddresses: ['203.0.113.7', '::ffff:10.0.0.0/104', '203.0.113.7/32'],
    expiresAt: after(hourMs),
  });
  pass(1);
  const second = await givenKey(given, root, { workspaceId });
  const keys = await listed();
  expect(keys.map(({ id }) => id)).toEqual([second.id, key.id]);
  expect(keys[1]).toMatchObject({
    email: key.email,
    permissions: { contacts: { read: true, write: false } },
    allowedAddresses: ['203.0.113.7/32', '10.0.0.0/8'],
    expiresAt: key.expiresAt,
  });
  const texts = JSON.stringify(keys, (_, value) =>
    typeof value === 'bigint' ? `${value}` : value,
  );
  expect(texts).not.toContain(key.claims.sessionId);
  expect(texts).not.toContain(key.token);
});

test('revokeAPIKey ends a key at once on every replica, and only one of its workspace', async () => {
  const key = await givenKey(given, root, { workspaceId });
  const other = await givenWorkspace(given, root);
  const notFound = { code: Code.NotFound, rawMessage: 'API key not found' };
  for (const request of [
    { workspaceId: other, id: key.id },
    { workspaceId, id: 'nonsense' },
    { workspaceId, id: root.subject },
  ]) {
    await expect(given.keys(root).revokeAPIKey(request)).rejects.toMatchObject(notFound);
    await expect(given.keys(root).rotateAPIKey(request)).rejects.toMatchObject(notFound);
  }
  expect(await isLive(key.claims)).toBe(true);
  const rotated = await given.keys(root).rotateAPIKey({ workspaceId, id: key.id });
  await given.keys(root).revokeAPIKey({ workspaceId, id: key.id });
  expect(await isLive(key.claims)).toBe(false);
  expect(await isLive(await claimsOf(rotated.token))).toBe(false);
  expect(await isLive(root)).toBe(true);
  expect(await listed()).toEqual([]);
  await expect(given.keys(root).revokeAPIKey({ workspaceId, id: key.id })).rejects.toMatchObject(
    notFound,
  );
});

test('rotateAPIKey keeps the old token for a day, or as long as asked', async () => {
  const { id, claims, expiresAt } = await givenKey(given, root, { workspaceId });
  const rotated = await given.keys(root).rotateAPIKey({ workspaceId, id });
  expect(rotated.expiresAt).toEqual(expiresAt);
  expect(rotated.earlierTokensUntil).toEqual(after(24 * hourMs));
  expect((await listed())[0]?.earlierTokensUntil).toEqual(after(24 * hourMs));
  const second = await claimsOf(rotated.token);
  pass(24 * hourMs - 1);
  root = await givenRoot(given);
  expect([await isLive(claims), await isLive(second)]).toEqual([true, true]);
  pass(1);
  expect([await isLive(claims), await isLive(second)]).toEqual([false, true]);
  expect((await listed())[0]?.earlierTokensUntil).toBeUndefined();
  const third = await given.keys(root).rotateAPIKey({ workspaceId, id, overlapHours: 0 });
  expect(third.earlierTokensUntil).toBeUndefined();
  expect([await isLive(second), await isLive(await claimsOf(third.token))]).toEqual([false, true]);
});

test.each([-1, 169])('rotateAPIKey refuses an overlap of %p hours', async (overlapHours) => {
  const { id } = await givenKey(given, root, { workspaceId });
  const rotated = given.keys(root).rotateAPIKey({ workspaceId, id, overlapHours });
  await expect(rotated).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'overlap_hours must be between 0 and 168',
  });
});

test('a second rotation ends no token later than the first one said, and may end it earlier', async () => {
  const { id, claims } = await givenKey(given, root, { workspaceId });
  await given.keys(root).rotateAPIKey({ workspaceId, id, overlapHours: 1 });
  await given.keys(root).rotateAPIKey({ workspaceId, id, overlapHours: 168 });
  pass(hourMs);
  expect(await isLive(claims)).toBe(false);
});

test('two rotations at once give two tokens that are valid, beside the first', async () => {
  const { id, claims } = await givenKey(given, root, { workspaceId });
  const both = await Promise.all(
    [1, 2].map(() => given.keys(root).rotateAPIKey({ workspaceId, id })),
  );
  const tokens = await Promise.all(both.map(({ token }) => claimsOf(token)));
  expect(new Set(tokens.map(({ sessionId }) => sessionId)).size).toBe(2);
  expect(await Promise.all([claims, ...tokens].map(isLive))).toEqual([true, true, true]);
});

test('a key has five valid tokens at most, and a rotation without overlap leaves one', async () => {
  const { id, claims } = await givenKey(given, root, { workspaceId });
  const rotate = (overlapHours?: number) =>
    given.keys(root).rotateAPIKey({ workspaceId, id, overlapHours });
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => rotate()));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
  await expect(rotate()).rejects.toMatchObject({ code: Code.FailedPrecondition });
  expect(await isLive(claims)).toBe(true);
  const { token } = await rotate(0);
  expect([await isLive(claims), await isLive(await claimsOf(token))]).toEqual([false, true]);
});

test('a key from before keys had token ids works, and can be rotated and revoked', async () => {
  const { id, claims } = await givenOldKey();
  expect(await isLive(claims)).toBe(true);
  await given.workspaces(claims).getWorkspace({ id: workspaceId });
  const [shown] = await listed();
  const tenYearsMs = 3650 * 24 * hourMs;
  expect(shown?.expiresAt && timestampDate(shown.expiresAt)).toEqual(
    new Date(given.clock.now.getTime() + tenYearsMs),
  );
  const { token } = await given.keys(root).rotateAPIKey({ workspaceId, id });
  expect([await isLive(claims), await isLive(await claimsOf(token))]).toEqual([true, true]);
  pass(24 * hourMs);
  root = await givenRoot(given);
  expect([await isLive(claims), await isLive(await claimsOf(token))]).toEqual([false, true]);
  await given.keys(root).rotateAPIKey({ workspaceId, id });
  expect(await isLive(claims)).toBe(false);
  const old = await givenOldKey();
  await given.keys(root).revokeAPIKey({ workspaceId, id: old.id });
  expect(await isLive(old.claims)).toBe(false);
});

test('a token without an id is no token of a newer key', async () => {
  const { claims } = await givenKey(given, root, { workspaceId });
  for (const sessionId of ['', 'nonsense', crypto.randomUUID()]) {
    expect(await isLive({ ...claims, sessionId })).toBe(false);
  }
});

test('an expired key is dead, stays listed, and cannot be rotated', async () => {
  const key = await givenKey(given, root, { workspaceId, expiresAt: after(hourMs) });
  const rotated = await given.keys(root).rotateAPIKey({ workspaceId, id: key.id });
  expect(rotated.earlierTokensUntil).toEqual(key.expiresAt);
  pass(hourMs - 1);
  expect(await isLive(key.claims)).toBe(true);
  pass(1);
  expect(await isLive(key.claims)).toBe(false);
  expect(await isLive(await claimsOf(rotated.token))).toBe(false);
  expect(await listed()).toHaveLength(1);
  await expect(given.keys(root).rotateAPIKey({ workspaceId, id: key.id })).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: 'the API key has expired',
  });
});

test.each([0, -1, 3650 * 24 * hourMs + 1])('a key cannot end in %p ms', async (ms) => {
  await expect(givenKey(given, root, { workspaceId, expiresAt: after(ms) })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'expires_at must be in the future and at most 10 years ahead',
  });
});

test('allowed addresses must be addresses or networks', async () => {
  await expect(
    givenKey(given, root, { workspaceId, allowedAddresses: ['10.0.0.5/8'] }),
  ).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage:
      'allowed_addresses must hold IP addresses and networks such as 203.0.113.0/24, not 10.0.0.5/8',
  });
});

test('no key manages keys, whatever its permissions', async () => {
  const { claims, id } = await givenKey(given, root, { workspaceId });
  const calls = [
    () => given.keys(claims).listAPIKeys({ workspaceId }),
    () => given.keys(claims).revokeAPIKey({ workspaceId, id }),
    () => given.keys(claims).rotateAPIKey({ workspaceId, id }),
    () => given.workspaces(claims).createAPIKey({ workspaceId, emailPrefix: 'more' }),
  ];
  for (const call of calls) {
    const error = await call().catch(ConnectError.from);
    expect(error).toMatchObject({
      rawMessage:
        'user is not an owner of the workspace: no API key can do this, whatever its permissions; an owner who is signed in can',
    });
  }
});
