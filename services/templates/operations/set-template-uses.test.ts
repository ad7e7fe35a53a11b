import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { createRequest, useService } from '../test/given.ts';

const given = useService();
const workspaceId = 'acme';
const list = { workspaceId, kind: 'list', id: 'news', name: 'News' };

async function givenTemplate(): Promise<string> {
  const request = createRequest();
  await given.client.createTemplate(request);
  return request.id;
}

const isDeletable = (id: string) =>
  given.client.deleteTemplate({ workspaceId, id }).then(
    () => true,
    () => false,
  );

test('uses replace those that were set before', async () => {
  const [a, b] = [await givenTemplate(), await givenTemplate()];
  await given.uses.setTemplateUses({ ...list, templateIds: [a, a] });
  await given.uses.setTemplateUses({ ...list, templateIds: [b] });
  expect([await isDeletable(a), await isDeletable(b)]).toEqual([true, false]);
});

test('a template that is missing is named, and nothing is changed', async () => {
  const [a, gone] = [await givenTemplate(), await givenTemplate()];
  await given.client.deleteTemplate({ workspaceId, id: gone });
  const user = { ...list, id: 'other' };
  await given.uses.setTemplateUses({ ...user, templateIds: [a] });
  for (const missing of [gone, 'never']) {
    await expect(
      given.uses.setTemplateUses({ ...user, templateIds: [missing] }),
    ).rejects.toMatchObject({ code: Code.NotFound, rawMessage: `template ${missing} not found` });
  }
  await expect(
    given.uses.setTemplateUses({ ...user, workspaceId: 'foreign', templateIds: [a] }),
  ).rejects.toMatchObject({ code: Code.NotFound });
  expect(await isDeletable(a)).toBe(false);
});

test('21 templates are too many', async () => {
  const templateIds = Array.from({ length: 21 }, (_, n) => `t${n}`);
  await expect(given.uses.setTemplateUses({ ...list, templateIds })).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});
