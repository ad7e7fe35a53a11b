import { timestampDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, expect, test } from '@jest/globals';
import type { Claims } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import { createAuthorize } from '../members/authorize.ts';
import { givenRoot, givenService, useService } from '../test/given.ts';
import { givenKey, givenWorkspace } from '../test/given-key.ts';

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

async function isLive({ subject, sessionId }: Claims): Promise<boolean> {
  return (await createAuthorize(given.context)(subject, sessionId, workspaceId)).active;
}

const listed = async () => (await given.keys(root).listAPIKeys({ workspaceId })).apiKeys;

test('the last use of a key is written in bulk, to the hour, once an hour', async () => {
  const key = await givenKey(given, root, { workspaceId });
  const idle = await givenKey(given, root, { workspaceId });
  const { lastUse, store } = given.context;
  const shown = async () =>
    new Map(
      (await listed()).map(({ id, lastUsedAt }) => [id, lastUsedAt && timestampDate(lastUsedAt)]),
    );
  await isLive(key.claims);
  expect((await shown()).get(key.id)).toBeUndefined();
  await lastUse.write();
  const hour = new Date(Math.floor(given.clock.now.getTime() / hourMs) * hourMs);
  expect(await shown()).toEqual(
    new Map([
      [key.id, hour],
      [idle.id, undefined],
    ]),
  );
  await query(store.fork(), 'update users set last_used_at = null where id = $1', [key.id]);
  await isLive(key.claims);
  await lastUse.write();
  expect((await shown()).get(key.id)).toBeUndefined();
  pass(hourMs);
  root = await givenRoot(given);
  await isLive(key.claims);
  await lastUse.write();
  expect((await shown()).get(key.id)).toEqual(new Date(hour.getTime() + hourMs));
});

test('a last use that could not be written is written later, and never an earlier hour', async () => {
  const { id, claims } = await givenKey(given, root, { workspaceId });
  const other = await givenService(given.context.store.url);
  other.clock.now = new Date(given.clock.now.getTime() + hourMs);
  await createAuthorize(other.context)(claims.subject, claims.sessionId, workspaceId);
  await isLive(claims);
  const broken = given.context.store.fork;
  Object.assign(given.context.store, {
    fork: () => {
      throw new Error('down');
    },
  });
  await given.context.lastUse.write();
  Object.assign(given.context.store, { fork: broken });
  await other.context.lastUse.write();
  await given.context.lastUse.write();
  const later = Math.floor(other.clock.now.getTime() / hourMs) * hourMs;
  const [shown] = await listed();
  expect(shown).toMatchObject({ id });
  expect(shown?.lastUsedAt && timestampDate(shown.lastUsedAt)).toEqual(new Date(later));
  await Promise.all([other.context.egress.close(), other.context.store.close()]);
});
