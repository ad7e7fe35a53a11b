import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { Code, ConnectError, createClient, createRouterTransport } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { createWantsProof } from './proof-of-work.ts';

/** Asks until the answer is no longer the one that is kept. */
async function untilAskedAgain(ask: () => Promise<unknown>, asked: () => number): Promise<unknown> {
  const before = asked();
  let answer = await ask();
  while (asked() === before) {
    await setImmediate();
    answer = await ask();
  }
  return answer;
}

test('while workspaces is away the last answer holds, and a workspace that is not known is a 503; an id that none can have is not asked about', async () => {
  let asked = 0;
  let failure: ConnectError | undefined;
  const transport = createRouterTransport((router) => {
    router.rpc(WorkspaceDirectoryService.method.getSettings, () => {
      asked += 1;
      if (failure) throw failure;
      return { settings: { formProofOfWork: true } };
    });
  });
  const wantsProof = createWantsProof(createClient(WorkspaceDirectoryService, transport));
  expect(await wantsProof('acme')).toBe(true);
  failure = new ConnectError('away', Code.Unavailable);
  expect(
    await untilAskedAgain(
      () => wantsProof('acme'),
      () => asked,
    ),
  ).toBe(true);
  await expect(wantsProof('other')).rejects.toMatchObject({ code: Code.Unavailable });
  failure = new ConnectError('Workspace not found', Code.NotFound);
  expect(await wantsProof('nobody')).toBe(false);
  const before = asked;
  expect(await wantsProof('x'.repeat(60_000))).toBe(false);
  expect(asked).toBe(before);
});

test('workspaces that do not exist take no room of the last answers', async () => {
  let isAway = false;
  let asked = 0;
  const transport = createRouterTransport((router) => {
    router.rpc(WorkspaceDirectoryService.method.getSettings, ({ workspaceId }) => {
      asked += 1;
      if (isAway) throw new ConnectError('away', Code.Unavailable);
      if (workspaceId !== 'acme') throw new ConnectError('Workspace not found', Code.NotFound);
      return { settings: { formProofOfWork: true } };
    });
  });
  const wantsProof = createWantsProof(createClient(WorkspaceDirectoryService, transport));
  expect(await wantsProof('acme')).toBe(true);
  await Promise.all(Array.from({ length: 2_000 }, (_, index) => wantsProof(`invented${index}`)));
  isAway = true;
  const before = asked;
  expect(await wantsProof('acme')).toBe(true);
  expect(asked).toBe(before + 1);
});

test('while workspaces takes calls and answers none, the last answer holds as well', async () => {
  let isFrozen = false;
  let asked = 0;
  const transport = createRouterTransport((router) => {
    router.rpc(WorkspaceDirectoryService.method.getSettings, async (_, { signal }) => {
      asked += 1;
      if (isFrozen) await once(signal, 'abort');
      return { settings: { formProofOfWork: true } };
    });
  });
  const wantsProof = createWantsProof(createClient(WorkspaceDirectoryService, transport));
  expect(await wantsProof('acme')).toBe(true);
  isFrozen = true;
  expect(
    await untilAskedAgain(
      () => wantsProof('acme'),
      () => asked,
    ),
  ).toBe(true);
});
