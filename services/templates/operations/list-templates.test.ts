import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { createRequest, mail, useService } from '../test/given.ts';

const given = useService();

async function allPages(workspaceId: string, limit?: number) {
  const pages: string[][] = [];
  let cursor = '';
  do {
    const page = await given.client.listTemplates({ workspaceId, limit, cursor });
    pages.push(page.templates.map(({ id }) => id));
    cursor = page.nextCursor ?? '';
  } while (cursor !== '');
  return pages;
}

test('pages follow each other, even if several templates changed at once', async () => {
  const made: string[] = [];
  for (let n = 0; n < 7; n += 1) {
    const request = { ...createRequest(), workspaceId: 'paged' };
    await given.client.createTemplate(request);
    made.push(request.id);
  }
  const pages = await allPages('paged', 3);
  expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
  expect(pages.flat().toSorted()).toEqual(made.toSorted());
  expect((await allPages('paged')).length).toBe(1);
});

test('a page goes on where it ended, though its last template was changed or deleted', async () => {
  const workspaceId = 'moving';
  for (const id of ['a', 'b', 'c']) {
    given.clock.now = new Date(given.clock.now.getTime() + 1_000);
    await given.client.createTemplate({ ...createRequest(), workspaceId, id });
  }
  const first = await given.client.listTemplates({ workspaceId, limit: 1 });
  expect(first.templates.map(({ id }) => id)).toEqual(['c']);
  given.clock.now = new Date(given.clock.now.getTime() + 1_000);
  await given.client.updateTemplate({ ...createRequest(), workspaceId, id: 'c' });
  const second = await given.client.listTemplates({
    workspaceId,
    limit: 1,
    cursor: first.nextCursor ?? '',
  });
  expect(second.templates.map(({ id }) => id)).toEqual(['b']);
  await given.client.deleteTemplate({ workspaceId, id: 'b' });
  const third = await given.client.listTemplates({ workspaceId, cursor: second.nextCursor ?? '' });
  expect(third.templates.map(({ id }) => id)).toEqual(['a']);
});

test('a page ends at 4 MiB of content, however well it compresses', async () => {
  const request = createRequest(mail(`<mj-text>${'x'.repeat(470_000)}</mj-text>`));
  await given.client.createTemplate({ ...request, workspaceId: 'large' });
  await query(
    given.context.store.fork(),
    `insert into templates (workspace_id, id, version, name, channel, category, email, template_macro_id,
       integration_id, translations, created_at, updated_at)
     select workspace_id, 't' || n, version, name, channel, category, email, template_macro_id,
       integration_id, translations, created_at, updated_at + n * interval '1 second'
     from templates cross join generate_series(1, 59) n where workspace_id = 'large'`,
    [],
  );
  const pages = await allPages('large');
  expect(pages.flat()).toHaveLength(60);
  expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(5);
});

test('a thousand templates are one page, in the order of their change', async () => {
  await query(
    given.context.store.fork(),
    `insert into templates (workspace_id, id, version, name, channel, category, web, template_macro_id,
       integration_id, translations, created_at, updated_at)
     select 'many', 't' || n, 1, 'T', 'web', 'other', '{"content":{"a":1}}', '', '', '{}', now(),
       now() + n * interval '1 second' from generate_series(1, 1000) n`,
    [],
  );
  const [page, ...others] = await allPages('many');
  expect(others).toEqual([]);
  expect([page?.length, page?.[0], page?.at(-1)]).toEqual([1_000, 't1000', 't1']);
});

test.each([
  [{ limit: 0 }, 'limit must be between 1 and 1000'],
  [{ limit: 1_001 }, 'limit must be between 1 and 1000'],
  [{ cursor: 'nonsense' }, 'invalid cursor'],
  [{ cursor: 'none.1' }, 'invalid cursor'],
  [{ cursor: 'none.999999999' }, 'invalid cursor'],
])('%j is refused', async (change, text) => {
  await expect(
    given.client.listTemplates({ workspaceId: 'acme', ...change }),
  ).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: text });
});
