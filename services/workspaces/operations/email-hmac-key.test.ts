import { Code, createClient } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import { WorkspaceService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import { keyring, serviceClaims, testTransport } from '../../../test/setup/service.ts';
import { workspacesRoutes } from '../service.ts';
import { givenRoot, useService } from '../test/given.ts';

const given = useService();
let root: Claims;
beforeAll(async () => {
  root = await givenRoot(given);
  for (const id of ['acme', 'other'])
    await given.workspaces(root).createWorkspace({ id, name: id });
});

const acme = { workspaceId: 'acme' };

test('a workspace has a key of 64 characters, always the same and its own', async () => {
  const workspaces = given.workspaces(root);
  const answers = await Promise.all([1, 2, 3].map(() => workspaces.getEmailHmacKey(acme)));
  const [first] = answers.map(({ key }) => key);
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(answers.every(({ key }) => key === first)).toBe(true);
  expect((await workspaces.getEmailHmacKey({ workspaceId: 'other' })).key).not.toBe(first);
});

test('services read the same key as owners', async () => {
  const service = createClient(WorkspaceService, given.transport(serviceClaims));
  const { key } = await service.getEmailHmacKey(acme);
  expect(key).toBe((await given.workspaces(root).getEmailHmacKey(acme)).key);
});

test('a rotated key replaces the old one at once', async () => {
  const workspaces = given.workspaces(root);
  const { key: before } = await workspaces.getEmailHmacKey(acme);
  const { key: after } = await workspaces.rotateEmailHmacKey(acme);
  expect(after).toMatch(/^[0-9a-f]{64}$/);
  expect(after).not.toBe(before);
  expect((await workspaces.getEmailHmacKey(acme)).key).toBe(after);
});

test('the key is stored sealed', async () => {
  const { key } = await given.workspaces(root).getEmailHmacKey(acme);
  const rows = await query(given.context.store.fork(), 'select * from workspaces', []);
  expect(JSON.stringify(rows)).not.toContain(key);
});

test('only an owner may read or rotate the key', async () => {
  const { token } = await given
    .workspaces(root)
    .createAPIKey({ workspaceId: 'acme', emailPrefix: 'site' });
  const member = await keyring.verifyToken(token);
  const workspaces = given.workspaces(member ?? root);
  const denied = {
    code: Code.PermissionDenied,
    rawMessage:
      'user is not an owner of the workspace: no API key can do this, whatever its permissions; an owner who is signed in can',
  };
  await expect(workspaces.getEmailHmacKey(acme)).rejects.toMatchObject(denied);
  await expect(workspaces.rotateEmailHmacKey(acme)).rejects.toMatchObject(denied);
});

test('an unknown workspace has no key', async () => {
  const service = createClient(WorkspaceService, given.transport(serviceClaims));
  await expect(service.getEmailHmacKey({ workspaceId: 'nobody' })).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'Workspace not found',
  });
});

test('the key is not rotated in demo mode', async () => {
  const transport = testTransport(workspacesRoutes(given.context), { demo: true });
  const workspaces = createClient(WorkspaceService, transport(root));
  await expect(workspaces.rotateEmailHmacKey(acme)).rejects.toMatchObject({
    rawMessage: 'This operation is not allowed in demo mode',
  });
});
