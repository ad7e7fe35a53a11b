import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { createRequest, useService } from '../test/given.ts';

const given = useService();

/** A template with versions 1 and 2. */
async function givenTemplate(): Promise<string> {
  const { id } = createRequest();
  await given.client.createTemplate({ ...createRequest(), id });
  await given.client.updateTemplate({ ...createRequest(), id });
  return id;
}

const ask = async (keys: { id: string; version?: number }[], workspaceId = 'acme') => {
  const { found } = await given.content.batchGetTemplates({ workspaceId, keys });
  return found
    .map(({ key, template }) => [key?.id, key?.version, template?.id, template?.version])
    .sort();
};

test('many templates are read at once: pinned versions and the newest', async () => {
  const [a, b] = [await givenTemplate(), await givenTemplate()];
  const keys = [{ id: a, version: 1 }, { id: a }, { id: b, version: 2 }, { id: b, version: 2 }];
  expect(await ask(keys)).toEqual(
    [
      [a, 0, a, 2],
      [a, 1, a, 1],
      [b, 2, b, 2],
    ].sort(),
  );
});

test('unknown templates are left out', async () => {
  const id = await givenTemplate();
  expect(await ask([{ id: 'none' }, { id, version: 3 }])).toEqual([]);
  expect(await ask([{ id }], 'other')).toEqual([]);
  expect(await ask([])).toEqual([]);
});

test('a deleted template has only its pinned versions', async () => {
  const id = await givenTemplate();
  await given.client.deleteTemplate({ workspaceId: 'acme', id });
  expect(await ask([{ id }, { id, version: 1 }])).toEqual([[id, 1, id, 1]]);
});

test('801 templates are too many', async () => {
  const keys = Array.from({ length: 801 }, (_, n) => ({ id: `t${n}` }));
  await expect(ask(keys)).rejects.toMatchObject({ code: Code.InvalidArgument });
});
