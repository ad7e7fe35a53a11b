import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { TemplateCategory } from '#gen/postrider/templates/v1/templates_pb.ts';
import { writeCursor } from '#lib/postgres/cursor.ts';
import { createRequest, useService } from '../test/given.ts';

const given = useService();

test('versions are listed without content, newest first, by pages', async () => {
  const request = createRequest();
  const { workspaceId, id } = request;
  await given.client.createTemplate(request);
  const category = TemplateCategory.WELCOME;
  for (const name of ['Two', 'Three', 'Four', 'Five']) {
    await given.client.updateTemplate({ ...request, name, category });
  }
  const first = await given.client.listTemplateVersions({ workspaceId, id, limit: 3 });
  expect(first.versions.map(({ version, name }) => [version, name])).toEqual([
    [5, 'Five'],
    [4, 'Four'],
    [3, 'Three'],
  ]);
  expect(first.versions[0]).toMatchObject({ category, updatedAt: { nanos: 0 } });
  const cursor = first.nextCursor ?? '';
  const rest = await given.client.listTemplateVersions({ workspaceId, id, limit: 3, cursor });
  expect(rest.versions.map(({ version }) => version)).toEqual([2, 1]);
  expect(rest.nextCursor).toBeUndefined();
});

test('an unknown template has no versions, and a wrong cursor is refused', async () => {
  const asked = { workspaceId: 'acme', id: 'none' };
  await expect(given.client.listTemplateVersions(asked)).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'Template not found',
  });
  const forged = ['0', '-1', '1.5', ' 3', '9'.repeat(30)].map(writeCursor);
  for (const cursor of ['x', '3', '-1', ...forged, `${writeCursor('3')}=`]) {
    await expect(given.client.listTemplateVersions({ ...asked, cursor })).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: 'invalid cursor',
    });
  }
});
