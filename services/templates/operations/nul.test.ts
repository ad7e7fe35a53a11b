import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { createRequest, useService } from '../test/given.ts';

const given = useService();
const text = 'a\0b';

test('text with a NUL, which the gateway refuses, is a mistake of the caller over gRPC too', async () => {
  const request = createRequest();
  await given.client.createTemplate(request);
  const { workspaceId, id } = request;
  const block = { type: 'mj-text', content: text };
  const ended = await Promise.allSettled([
    given.client.updateTemplate({ ...request, name: text }),
    given.client.updateTemplate({ ...request, testData: { a: text } }),
    given.client.updateTemplate({ ...request, settings: { [text]: 1 } }),
    given.client.updateTemplate({ ...request, templateMacroId: text }),
    given.client.deleteTemplate({ workspaceId, id: text }),
    given.client.listTemplateVersions({ workspaceId, id: text }),
    given.client.compareTemplateVersions({ workspaceId, id: text, from: 1, to: 1 }),
    given.client.restoreTemplateVersion({ workspaceId, id: text, version: 1 }),
    given.blocks.createTemplateBlock({ workspaceId, name: 'x', block }),
    given.blocks.createTemplateBlock({ workspaceId, name: text, block: { type: 'mj-text' } }),
    given.uses.setTemplateUses({ workspaceId, kind: 'list', id: text, templateIds: [id] }),
    given.uses.setTemplateUses({ workspaceId, kind: 'list', id: 'x', templateIds: [text] }),
  ]);
  const codes = ended.map((each) => each.status === 'rejected' && each.reason.code);
  expect(codes).toEqual(ended.map(() => Code.InvalidArgument));
  expect((await given.client.getTemplate(request)).template?.version).toBe(1);
});
