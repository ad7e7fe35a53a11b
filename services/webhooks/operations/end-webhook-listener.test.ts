import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { deliveriesOf } from '../test/deliveries.ts';
import { givenWorkspace, jobsOf, useService } from '../test/given.ts';
import { givenListener, sendTypes } from '../test/listeners.ts';

const given = useService();

test('a listener that has ended gets nothing more, and may be ended again', async () => {
  const workspaceId = givenWorkspace();
  const { end } = await givenListener(given, workspaceId);
  expect(await end()).toMatchObject({ success: true });
  await end();
  await sendTypes(given, workspaceId, ['contact.created']);
  expect(await deliveriesOf(given, workspaceId)).toEqual([]);
});

test('producers make its types no more', async () => {
  const workspaceId = givenWorkspace();
  const { end } = await givenListener(given, workspaceId);
  await end();
  const pushes = (await jobsOf(given, 'pushInterests')) as { workspaceId?: string }[];
  expect(pushes.filter((push) => push.workspaceId === workspaceId)).toHaveLength(1);
});

test('a listener of another workspace is not found, and stays', async () => {
  const { id, take } = await givenListener(given, givenWorkspace());
  await expect(
    given.listeners.endWebhookListener({ workspaceId: givenWorkspace(), id }),
  ).rejects.toMatchObject({ code: Code.NotFound });
  await take();
});
