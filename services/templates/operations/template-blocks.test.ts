import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { createRequest, useService } from '../test/given.ts';

const given = useService();
const workspaceId = 'acme';
const block = { type: 'mj-text', attributes: { color: 'red' }, content: 'Hi {{ contact.email }}' };
const notFound = { code: Code.NotFound, rawMessage: 'Template block not found' };

test('a block is created, read, changed and deleted', async () => {
  const { block: made } = await given.blocks.createTemplateBlock({
    workspaceId,
    name: 'Hello',
    block,
  });
  expect(made).toMatchObject({ name: 'Hello', block });
  const key = { workspaceId, id: made?.id ?? '' };
  expect((await given.blocks.getTemplateBlock(key)).block).toEqual(made);
  given.clock.now = new Date(given.clock.now.getTime() + 1_000);
  const changed = { ...key, name: 'Bye', block: { type: 'mj-divider' } };
  const { block: updated } = await given.blocks.updateTemplateBlock(changed);
  expect(updated).toMatchObject({
    name: 'Bye',
    block: { type: 'mj-divider' },
    created: made?.created,
  });
  expect(updated?.updated).not.toEqual(made?.updated);
  expect(await given.blocks.deleteTemplateBlock(key)).toMatchObject({ success: true });
  await expect(given.blocks.getTemplateBlock(key)).rejects.toMatchObject(notFound);
  await expect(given.blocks.deleteTemplateBlock(key)).rejects.toMatchObject(notFound);
  await expect(given.blocks.updateTemplateBlock(changed)).rejects.toMatchObject(notFound);
});

test('blocks are listed by name, by pages, and only those of the workspace', async () => {
  const workspace = { workspaceId: 'listed' };
  for (const name of ['b', 'a', 'c', 'a']) {
    await given.blocks.createTemplateBlock({ ...workspace, name, block });
  }
  const first = await given.blocks.listTemplateBlocks({ ...workspace, limit: 3 });
  expect(first.blocks.map(({ name }) => name)).toEqual(['a', 'a', 'b']);
  const cursor = first.nextCursor ?? '';
  const rest = await given.blocks.listTemplateBlocks({ ...workspace, limit: 3, cursor });
  expect(rest.blocks.map(({ name }) => name)).toEqual(['c']);
  expect(rest.nextCursor).toBeUndefined();
  expect((await given.blocks.listTemplateBlocks(workspace)).blocks).toHaveLength(4);
  expect((await given.blocks.listTemplateBlocks({ workspaceId: 'none' })).blocks).toEqual([]);
  await expect(
    given.blocks.listTemplateBlocks({ ...workspace, cursor: 'nonsense' }),
  ).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: 'invalid cursor' });
});

test('a page of blocks ends at 4 MiB', async () => {
  const workspace = { workspaceId: 'large' };
  const large = { type: 'mj-raw', content: 'x'.repeat(250_000) };
  for (let n = 0; n < 18; n += 1) {
    await given.blocks.createTemplateBlock({ ...workspace, name: `n${n}`, block: large });
  }
  const { blocks, nextCursor } = await given.blocks.listTemplateBlocks(workspace);
  expect(blocks.length).toBeLessThan(18);
  const rest = await given.blocks.listTemplateBlocks({ ...workspace, cursor: nextCursor ?? '' });
  expect(blocks.length + rest.blocks.length).toBe(18);
});

const deep = (levels: number): object =>
  levels === 0 ? { type: 'mj-text' } : { type: 'mj-wrapper', children: [deep(levels - 1)] };

test.each([
  [{ name: '' }, 'name is required'],
  [{ name: 'a'.repeat(256) }, 'name length must be between 1 and 255'],
  [{ block: undefined }, 'block is required'],
  [{ block: {} }, 'block kind is required'],
  [{ block: { type: 'script' } }, 'unknown block type: script'],
  [{ block: { type: 'mj-section', children: [{ type: 'x' }] } }, 'unknown block type: x'],
  [{ block: deep(40) }, 'a tree is at most 32 blocks deep'],
  [{ block: { type: 'mj-raw', content: 'x'.repeat(263_000) } }, 'block is larger than 256 KiB'],
])('%j is refused', async (change, text) => {
  const request = { workspaceId, name: 'N', block, ...change } as never;
  await expect(given.blocks.createTemplateBlock(request)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: text,
  });
});

test('parallel creations never pass the limit of blocks', async () => {
  await given.context.store.fork().execute(
    `insert into template_blocks (workspace_id, id, name, block, created_at, updated_at)
     select 'crowded', gen_random_uuid(), 'B', '{"type":"mj-text"}', now(), now()
     from generate_series(1, 499)`,
  );
  const calls = [1, 2, 3].map(() =>
    given.blocks.createTemplateBlock({ workspaceId: 'crowded', name: 'N', block }),
  );
  const ended = await Promise.allSettled(calls);
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('a block of another workspace is not found', async () => {
  const { block: made } = await given.blocks.createTemplateBlock({ workspaceId, name: 'N', block });
  for (const id of [made?.id ?? '', 'no-uuid', crypto.randomUUID()]) {
    await expect(given.blocks.getTemplateBlock({ workspaceId: 'other', id })).rejects.toMatchObject(
      notFound,
    );
  }
});

test('blocks and templates beyond their quotas are refused', async () => {
  given.quotas.template_blocks = 0n;
  given.quotas.templates = 0n;
  const workspaceId = 'full';
  const refused = (what: string) => ({
    code: Code.ResourceExhausted,
    rawMessage: expect.stringContaining(`has 0 of at most 0 ${what}: delete`),
  });
  await expect(
    given.blocks.createTemplateBlock({ workspaceId, name: 'Text', block }),
  ).rejects.toMatchObject(refused('template blocks'));
  await expect(
    given.client.createTemplate({ ...createRequest(), workspaceId }),
  ).rejects.toMatchObject(refused('templates'));
});
