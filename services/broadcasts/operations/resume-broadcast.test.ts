import { Code, createClient } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { IntegrationUseService } from '#gen/postrider/events/v1/events_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { keyringOf, serviceClaims, testTransport } from '../../../test/setup/service.ts';
import { operate } from '../activities/operate.ts';
import { resumeAfterOutage } from '../activities/resume-after-outage.ts';
import { Broadcast, type BroadcastKey } from '../broadcast/broadcast.ts';
import { noProviderText } from '../plan/provider.ts';
import { broadcastsRoutes } from '../service.ts';
import { givenBroadcast, useService } from '../test/given.ts';
import { allSent } from '../test/given-peers.ts';
import { playSteps } from '../test/play.ts';

const given = useService();
beforeEach(() => {
  Object.assign(given.neighbours, { providerId: 'smtp', ratePerMinute: 600_000 });
});

const begun = () => ({
  status: 'paused' as const,
  paused_from: 'sending' as const,
  frozen_at: new Date('2030-01-01T11:00:00Z'),
});
const planOf = async ({ id }: BroadcastKey) =>
  (await given.context.store.fork().findOneOrFail(Broadcast, { id })).plan;

test('resume takes up the provider and the rate of the settings, and says so', async () => {
  const key = await givenBroadcast(given, begun());
  Object.assign(given.neighbours, { providerId: 'other', ratePerMinute: 1_200 });
  expect(await given.client.resumeBroadcast(key)).toMatchObject({
    success: true,
    integrationId: 'other',
    movedFrom: 'smtp',
  });
  expect(await planOf(key)).toMatchObject({
    integration_id: 'other',
    rate_limit_per_minute: 1_200,
    variations: [{ template_id: 'hello', template_version: 7 }],
  });
});

test('resume says which provider stays, and none before the content is pinned', async () => {
  const kept = await given.client.resumeBroadcast(await givenBroadcast(given, begun()));
  expect(kept).toMatchObject({ integrationId: 'smtp' });
  expect(kept.movedFrom).toBeUndefined();
  const early = await givenBroadcast(given, { status: 'paused', paused_from: 'sending' });
  expect((await given.client.resumeBroadcast(early)).integrationId).toBeUndefined();
});

test('resume keeps the provider where the settings name none, unless it is gone', async () => {
  given.neighbours.providerId = '';
  const key = await givenBroadcast(given, begun());
  expect(await given.client.resumeBroadcast(key)).toMatchObject({ integrationId: 'smtp' });
  const gone = await givenBroadcast(given, begun());
  await given.context.store
    .fork()
    .execute(
      `update broadcasts set plan = jsonb_set(plan, '{integration_id}', '"deleted"') where id = '${gone.id}'`,
    );
  await expect(given.client.resumeBroadcast(gone)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: noProviderText,
  });
});

test('a resume by an operator and one after an outage take up the provider of the settings', async () => {
  given.neighbours.providerId = 'other';
  const byOperator = await givenBroadcast(given, begun());
  await operate(given.context)(byOperator, 'resume');
  expect(await planOf(byOperator)).toMatchObject({ integration_id: 'other' });
  const stopped = await givenBroadcast(given, begun());
  await given.context.store
    .fork()
    .nativeUpdate(Broadcast, { id: stopped.id }, { retry_at: new Date('2030-01-01T11:30:00Z') });
  await resumeAfterOutage(given.context)(stopped);
  expect(await planOf(stopped)).toMatchObject({ integration_id: 'other' });
});

test('a broadcast whose integration is deleted while it is sent pauses with the way out, and ends after resume', async () => {
  const key = await givenBroadcast(given, { status: 'sending' });
  const used: string[] = [];
  given.neighbours.sendBatch = (request) => {
    used.push(request.plan?.integrationId ?? '');
    if (request.plan?.integrationId === 'smtp') {
      throw refusal('INTEGRATION_NOT_FOUND', 'Integration not found');
    }
    return allSent(request);
  };
  await expect(playSteps(given, key)).rejects.toMatchObject({
    rawMessage: expect.stringContaining('resume sends the rest'),
  });
  await given.client.pauseBroadcast(key);
  given.neighbours.providerId = 'other';
  await given.client.resumeBroadcast(key);
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  expect(used.at(-1)).toBe('other');
  const { broadcast } = await given.client.getBroadcast(key);
  expect(broadcast).toMatchObject({ status: BroadcastStatus.SENT, sentCount: 3 });
});

test('broadcasts that have begun and are not over use their integration', async () => {
  const claims = { ...serviceClaims, subject: 'workspaces' };
  const authorization = `Bearer ${await keyringOf('workspaces').signToken(claims, 60)}`;
  const transport = testTransport(broadcastsRoutes(given.context));
  const uses = createClient(IntegrationUseService, transport(undefined, { authorization }));
  const workspaceId = 'uses';
  const em = given.context.store.fork();
  for (const status of ['draft', 'scheduled', 'sending', 'paused', 'sent', 'cancelled'] as const) {
    const frozen_at = new Date();
    const begins = status === 'draft' || status === 'scheduled';
    const { id } = await givenBroadcast(given, { status, ...(!begins && { frozen_at }) });
    await em.nativeUpdate(Broadcast, { id }, { workspace_id: workspaceId, name: status });
  }
  expect(await uses.listIntegrationUses({ workspaceId, integrationId: 'smtp' })).toMatchObject({
    uses: [
      { kind: 'broadcast', name: 'paused' },
      { kind: 'broadcast', name: 'sending' },
    ],
    count: 2,
  });
  const none = await uses.listIntegrationUses({ workspaceId, integrationId: 'other' });
  expect(none).toMatchObject({ uses: [], count: 0 });
});
