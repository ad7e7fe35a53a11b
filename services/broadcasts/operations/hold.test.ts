import { createClient } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { SystemService } from '#gen/postrider/broadcasts/v1/system_pb.ts';
import { createLog } from '#lib/log.ts';
import type { AuditEntry } from '#lib/rpc/server/audit.ts';
import { testTransport, userClaims } from '../../../test/setup/service.ts';
import { broadcastsRoutes } from '../service.ts';
import { givenBroadcast, useService } from '../test/given.ts';

const given = useService();
const before = new Date('2030-01-01T10:00:00Z');
const later = new Date('2030-01-01T14:00:00Z');

const statusOf = async (id: string) =>
  (await given.client.getBroadcast({ workspaceId: 'acme', id })).broadcast?.status;
const { SENDING, PAUSED, SCHEDULED, CANCELLED, SENT } = BroadcastStatus;

async function givenDoubt() {
  const sending = await givenBroadcast(given, { status: 'sending', starts_at: before });
  const paused = await givenBroadcast(given, {
    status: 'paused',
    starts_at: before,
    paused_from: 'sending',
  });
  const missed = await givenBroadcast(given, { status: 'scheduled', starts_at: before });
  const ahead = await givenBroadcast(given, { status: 'scheduled', starts_at: later });
  const sent = await givenBroadcast(given, { status: 'sent', starts_at: before });
  return { inDoubt: [sending.id, paused.id, missed.id], safe: [ahead.id, sent.id] };
}

test('a hold is placed with a reason, and names what had begun before it and is not over', async () => {
  const { inDoubt } = await givenDoubt();
  expect((await given.system.getHold({})).hold).toBeUndefined();
  await given.system.placeHold({ reason: 'restored' });
  const { hold, broadcasts } = await given.system.getHold({});
  expect(hold?.reason).toBe('restored');
  expect(broadcasts.map(({ id }) => id).sort()).toEqual([...inDoubt].sort());
  await given.system.releaseHold({ inDoubt: 'cancel' });
});

test('released with send, everything stays as it is', async () => {
  const { inDoubt } = await givenDoubt();
  await given.system.placeHold({ reason: 'restored' });
  expect(await given.system.releaseHold({ inDoubt: 'send' })).toMatchObject({
    cancelled: 0n,
    failed: 0n,
  });
  expect(await Promise.all(inDoubt.map(statusOf))).toEqual([SENDING, PAUSED, SCHEDULED]);
  await given.system.placeHold({ reason: 'once more' });
  await given.system.releaseHold({ inDoubt: 'cancel' });
});

test('released with cancel, what is in doubt is cancelled and nothing else', async () => {
  const { inDoubt, safe } = await givenDoubt();
  await given.system.placeHold({ reason: 'restored' });
  expect(await given.system.releaseHold({ inDoubt: 'cancel' })).toMatchObject({
    cancelled: 3n,
    failed: 3n,
  });
  expect(await Promise.all(inDoubt.map(statusOf))).toEqual([CANCELLED, CANCELLED, CANCELLED]);
  expect(await Promise.all(safe.map(statusOf))).toEqual([SCHEDULED, SENT]);
  expect((await given.system.getHold({})).hold).toBeUndefined();
});

test('a release says what becomes of what is in doubt', async () => {
  await expect(given.system.releaseHold({ inDoubt: '' })).rejects.toThrow(
    "in_doubt must be 'send' or 'cancel'",
  );
});

test('a hold and its release are recorded for every workspace', async () => {
  const entries: AuditEntry[] = [];
  const audit = {
    store: given.context.store,
    write: async (_: unknown, some: readonly AuditEntry[]) => void entries.push(...some),
    log: createLog('test', 'silent'),
  };
  const root = userClaims();
  const transport = testTransport(broadcastsRoutes(given.context), { audit });
  const system = createClient(SystemService, transport(root));
  await system.placeHold({ reason: 'restored' });
  await system.releaseHold({ inDoubt: 'send' });
  const by = { workspaceId: '*', actorId: root.subject };
  expect(entries).toMatchObject([
    { ...by, action: 'system.placeHold', after: { reason: 'restored' } },
    { ...by, action: 'system.releaseHold', after: { in_doubt: 'send' } },
  ]);
});
