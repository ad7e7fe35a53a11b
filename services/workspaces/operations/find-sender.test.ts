import { createClient } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import { serviceClaims } from '../../../test/setup/service.ts';
import { givenRoot, provider, useService } from '../test/given.ts';
import { givenWorkspace } from '../test/given-key.ts';

const given = useService();
let root: Claims;
beforeAll(async () => {
  root = await givenRoot(given);
});

const find = (workspaceId: string, email: string) =>
  createClient(WorkspaceDirectoryService, given.transport(serviceClaims)).findSender({
    workspaceId,
    email,
  });

test('a sender is found by its address, in the oldest integration of its workspace alone', async () => {
  const [own, other] = [await givenWorkspace(given, root), await givenWorkspace(given, root)];
  const create = async (workspaceId: string, email: string) => {
    const senders = [
      { email: 'Hello@Example.com', name: 'Hello' },
      { email, name: 'Second' },
    ];
    const created = await given.workspaces(root).createIntegration({
      ...{ workspaceId, name: email, type: 'email' },
      provider: { ...provider, senders },
    });
    return created.integrationId;
  };
  const first = await create(own, 'shop@example.com');
  const second = await create(own, 'news@example.com');
  await query(
    given.context.store.fork(),
    "update integrations set created_at = now() - interval '1 hour' where id = $1",
    [first],
  );
  expect(await find(own, 'hello@example.com')).toMatchObject({ integrationId: first });
  expect(await find(own, 'news@example.com')).toMatchObject({ integrationId: second });
  expect((await find(own, 'nobody@example.com')).integrationId).toBeUndefined();
  expect((await find(other, 'hello@example.com')).integrationId).toBeUndefined();
});
