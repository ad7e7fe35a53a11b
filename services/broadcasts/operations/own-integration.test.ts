import { Code, createClient } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { IntegrationUseService } from '#gen/postrider/events/v1/events_pb.ts';
import { keyringOf, serviceClaims, testTransport } from '../../../test/setup/service.ts';
import { Broadcast } from '../broadcast/broadcast.ts';
import { broadcastsRoutes } from '../service.ts';
import { draftContent, givenBroadcast, useService } from '../test/given.ts';
import { allSent } from '../test/given-peers.ts';
import { playSteps } from '../test/play.ts';

const given = useService();
beforeEach(() => {
  Object.assign(given.peers, { providerId: 'smtp' });
});

const { workspaceId } = draftContent;

async function givenDraft(integrationId: string): Promise<{ workspaceId: string; id: string }> {
  const { broadcast } = await given.client.createBroadcast({ ...draftContent, integrationId });
  return { workspaceId, id: broadcast?.id ?? '' };
}

async function integrationOf(key: { workspaceId: string; id: string }) {
  return (await given.client.getBroadcast(key)).broadcast?.integrationId;
}

/** The integrations that a broadcast is sent through. */
async function sentThrough(key: { workspaceId: string; id: string }): Promise<string[]> {
  const used = new Set<string>();
  given.peers.sendBatch = (request) => {
    used.add(request.plan?.integrationId ?? '');
    return allSent(request);
  };
  await given.client.scheduleBroadcast({ ...key, sendNow: true });
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  const { broadcast } = await given.client.getBroadcast(key);
  expect(broadcast?.status).toBe(BroadcastStatus.SENT);
  return [...used];
}

test('a broadcast is sent through the integration that it names, and others through that of the settings', async () => {
  expect(await sentThrough(await givenDraft('ses'))).toEqual(['ses']);
  expect(await sentThrough(await givenDraft(''))).toEqual(['smtp']);
});

test('a broadcast with an integration of its own needs none of the settings', async () => {
  given.peers.providerId = '';
  expect(await sentThrough(await givenDraft('ses'))).toEqual(['ses']);
});

test('a broadcast that names an integration that is not there is not scheduled', async () => {
  const key = await givenDraft('deleted');
  await expect(given.client.scheduleBroadcast({ ...key, sendNow: true })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'integration deleted not found',
  });
});

test('an update without an integration leaves it, and an empty one takes that of the settings', async () => {
  const key = await givenDraft('ses');
  const update = (change: { integrationId?: string }) =>
    given.client.updateBroadcast({ ...draftContent, ...key, ...change });
  await update({});
  expect(await integrationOf(key)).toBe('ses');
  await update({ integrationId: 'mailgun' });
  expect(await integrationOf(key)).toBe('mailgun');
  await update({ integrationId: '' });
  expect(await integrationOf(key)).toBe('');
});

test('an update of a scheduled broadcast refuses an integration that is not there', async () => {
  const key = await givenBroadcast(given, {
    status: 'scheduled',
    starts_at: new Date('2031-01-01'),
  });
  const update = given.client.updateBroadcast({
    ...draftContent,
    ...key,
    integrationId: 'deleted',
  });
  await expect(update).rejects.toMatchObject({ code: Code.InvalidArgument });
});

const begun = () => ({
  ...{ status: 'paused' as const, paused_from: 'sending' as const },
  frozen_at: new Date('2030-01-01T11:00:00Z'),
});

test('resume stays with the integration that the broadcast names, and leaves one that is gone', async () => {
  given.peers.providerId = 'other';
  const own = await givenBroadcast(given, { ...begun(), integration_id: 'smtp' });
  expect(await given.client.resumeBroadcast(own)).toMatchObject({ integrationId: 'smtp' });
  const gone = await givenBroadcast(given, { ...begun(), integration_id: 'deleted' });
  expect(await given.client.resumeBroadcast(gone)).toMatchObject({
    ...{ integrationId: 'other', movedFrom: 'smtp' },
  });
});

test('a scheduled broadcast uses the integration that it names, and not that of the settings', async () => {
  const claims = { ...serviceClaims, subject: 'workspaces' };
  const authorization = `Bearer ${await keyringOf('workspaces').signToken(claims, 60)}`;
  const transport = testTransport(broadcastsRoutes(given.context));
  const uses = createClient(IntegrationUseService, transport(undefined, { authorization }));
  const em = given.context.store.fork();
  for (const integration_id of ['ses', '']) {
    const { id } = await givenBroadcast(given, { status: 'scheduled', integration_id });
    const name = integration_id || 'none';
    await em.nativeUpdate(Broadcast, { id }, { workspace_id: 'owns', name });
  }
  const namesOf = async (asked: { integrationId: string; withUnbound?: boolean }) =>
    (await uses.listIntegrationUses({ workspaceId: 'owns', ...asked })).uses.map(
      ({ name }) => name,
    );
  expect(await namesOf({ integrationId: 'ses' })).toEqual(['ses']);
  expect(await namesOf({ integrationId: 'smtp', withUnbound: true })).toEqual(['none']);
});
