import { Code, createClient } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { memberWith, testTransport, userClaims } from '../../../test/setup/service.ts';
import { freezeAudience } from '../activities/freeze-audience.ts';
import { broadcastsRoutes } from '../service.ts';
import { givenBroadcast, tested, useService } from '../test/given.ts';

const given = useService();

type Key = { workspaceId: string; id: string };
async function versionsOf(key: Key, withTemplates = true) {
  const { broadcast } = await given.client.getBroadcast({ ...key, withTemplates });
  return broadcast?.testSettings?.variations.map(({ template }) => template?.version);
}

test('get and list return templates only on request', async () => {
  const key = await givenBroadcast(given);
  expect(await versionsOf(key, false)).toEqual([undefined]);
  expect(await versionsOf(key)).toEqual([9]);
  const { workspaceId } = key;
  for (const withTemplates of [true, false]) {
    const { broadcasts } = await given.client.listBroadcasts({ workspaceId, withTemplates });
    const [variation] = broadcasts.find(({ id }) => id === key.id)?.testSettings?.variations ?? [];
    expect(variation?.template?.id).toBe(withTemplates ? 'hello' : undefined);
  }
});

test('each variation has its own template, and a deleted one has none', async () => {
  const variations = ['a', 'missing', 'b'].map((template_id) => ({
    template_id,
    variation_name: template_id,
  }));
  const key = await givenBroadcast(given, { test_settings: { ...tested, variations } });
  const { broadcast } = await given.client.getBroadcast({ ...key, withTemplates: true });
  const shown = broadcast?.testSettings?.variations ?? [];
  expect(shown.map(({ template }) => template?.id)).toEqual(['a', undefined, 'b']);
});

test('once sending starts, the template is the version that is sent', async () => {
  const key = await givenBroadcast(given, { status: 'sending' });
  expect(await versionsOf(key)).toEqual([9]);
  await new MockActivityEnvironment().run(() => freezeAudience(given.context)(key));
  expect(await versionsOf(key)).toEqual([7]);
});

test('an empty list requests no templates', async () => {
  const none = { workspaceId: 'nothing', withTemplates: true };
  expect((await given.client.listBroadcasts(none)).broadcasts).toEqual([]);
});

test('a caller without read access to templates gets broadcasts without them', async () => {
  const authorize = memberWith({ broadcasts: { read: true } });
  const transport = testTransport(broadcastsRoutes(given.context), { authorize });
  const client = createClient(BroadcastService, transport(userClaims()));
  const key = await givenBroadcast(given);
  const denied = { code: Code.PermissionDenied };
  expect((await client.getBroadcast(key)).broadcast?.id).toBe(key.id);
  await expect(client.getBroadcast({ ...key, withTemplates: true })).rejects.toMatchObject(denied);
  await expect(
    client.listBroadcasts({ workspaceId: key.workspaceId, withTemplates: true }),
  ).rejects.toMatchObject(denied);
});
