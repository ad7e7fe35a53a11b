import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { LargeReads, restMsOf } from './large-reads.ts';

/** Reads that end when the test says so. */
function givenReads() {
  const reads = new LargeReads();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const read = (workspaceId: string) =>
    reads.run(workspaceId, async () => {
      begun.push(workspaceId);
      await new Promise<void>((resolve) => ends.push(resolve));
      return workspaceId;
    });
  return { begun, ends, read };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('two are read at once, and workspaces take turns', async () => {
  const { begun, ends, read } = givenReads();
  const all = ['a', 'a', 'a', 'a', 'b', 'c', 'b'].map(read);
  await settled();
  expect(begun).toEqual(['a', 'a']);
  for (let index = 0; index < 7; index += 1) {
    ends[index]?.();
    await settled();
  }
  expect(begun).toEqual(['a', 'a', 'a', 'b', 'c', 'a', 'b']);
  expect(await Promise.all(all)).toEqual(['a', 'a', 'a', 'a', 'b', 'c', 'b']);
});

test('a read that fails gives its place on', async () => {
  const reads = new LargeReads();
  const failing = () => reads.run('a', async () => Promise.reject(new Error('lost')));
  const failed = await Promise.allSettled([failing(), failing(), failing()]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(await reads.run('a', async () => 'read')).toBe('read');
});

test('a hundred may wait, and more are refused', async () => {
  const { ends, read } = givenReads();
  const all = Array.from({ length: 102 }, (_, at) => read(`w${at % 10}`));
  await expect(read('b')).rejects.toMatchObject({ code: Code.ResourceExhausted });
  for (let index = 0; index < 102; index += 1) {
    ends[index]?.();
    await settled();
  }
  await Promise.all(all);
});

test('a workspace may wait for 25 of them, and leaves the other places to others', async () => {
  const { ends, read } = givenReads();
  const all = Array.from({ length: 27 }, () => read('a'));
  await expect(read('a')).rejects.toMatchObject({ code: Code.ResourceExhausted });
  all.push(read('b'));
  for (let index = 0; index < 28; index += 1) {
    ends[index]?.();
    await settled();
  }
  await Promise.all(all);
});

test('a workspace reads 12.5 MiB a second in pages, and small ones cost it nothing', () => {
  expect(restMsOf(12.5 * 1024 * 1024)).toBe(1_000);
  expect(restMsOf(200_000)).toBe(0);
});
