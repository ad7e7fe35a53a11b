import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { createRequest, mail, useService } from '../test/given.ts';

const given = useService();

const lines = (word: string) =>
  mail(`\n<mj-text>\none\n${word}\nthree\n</mj-text>\n<mj-text>four</mj-text>`);

async function changesOf(before: object, after: object) {
  const request = createRequest(lines('two'));
  await given.client.createTemplate({ ...request, ...before });
  await given.client.updateTemplate({ ...request, ...after });
  const asked = { workspaceId: request.workspaceId, id: request.id, from: 1, to: 2 };
  return (await given.client.compareTemplateVersions(asked)).changes;
}

test('changed fields have their texts, and long ones a diff by lines', async () => {
  const { email } = createRequest(lines('zwei'));
  const changes = await changesOf(
    { testData: { b: 1, a: 2 } },
    { name: 'Neu', email, testData: { a: 2, b: 1 }, translations: { fr: { email } } },
  );
  expect(changes.map(({ field }) => field)).toEqual([
    'name',
    'email.mjml_source',
    'translations.fr.email.subject',
    'translations.fr.email.editor_mode',
    'translations.fr.email.mjml_source',
  ]);
  expect(changes[0]).toMatchObject({ before: 'Hello', after: 'Neu', diff: '', isTruncated: false });
  expect(changes[1]?.diff).toContain('\n-two\n+zwei\n');
  expect(changes[1]).toMatchObject({ before: '', after: '', isTruncated: false });
});

test('equal versions have no changes', async () => {
  expect(await changesOf({}, {})).toEqual([]);
});

test('large sources that differ everywhere are answered in bounded time and size', async () => {
  const source = (seed: number) => {
    const rows = Array.from({ length: 40_000 }, (_, n) => `${(n * 7919 * seed) % 99_991}`);
    return mail(`<mj-text>${rows.join('\n')}</mj-text>`);
  };
  const changes = await changesOf(
    { email: createRequest(source(1)).email },
    { email: createRequest(source(3)).email },
  );
  expect(changes).toMatchObject([{ field: 'email.mjml_source', isTruncated: true }]);
  expect(changes[0]?.diff.length).toBeLessThanOrEqual(64 * 1024);
});

test('compare finds no unknown version', async () => {
  const request = createRequest();
  await given.client.createTemplate(request);
  const asked = { workspaceId: request.workspaceId, id: request.id, from: 1, to: 2 };
  await expect(given.client.compareTemplateVersions(asked)).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'Template not found',
  });
  await expect(given.client.compareTemplateVersions({ ...asked, to: 0 })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'to must be a version, from 1',
  });
});
