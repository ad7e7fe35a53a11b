import { expect, test } from '@jest/globals';
import { CallGroups, type CallGroupsOptions } from './call-groups.ts';

type Group = { key: string; calls: readonly string[] };

/** A store that remembers its groups, answers with each call, and writes none before `go`. */
function givenGroups(over: Partial<CallGroupsOptions<string, string>> = {}) {
  const written: Group[] = [];
  const gate = Promise.withResolvers<void>();
  const groups = new CallGroups<string, string>({
    ...{ groupMax: 4, waitingMax: 10, runningMax: 2 },
    write: async (key, calls) => {
      written.push({ key, calls });
      await gate.promise;
      return calls.map((call) => `answer to ${call}`);
    },
    ...over,
  });
  return { groups, written, go: gate.resolve };
}

const add = (groups: CallGroups<string, string>, calls: readonly string[], key = 'w') =>
  calls.map((call) => groups.add(key, call));
const settled = (calls: readonly Promise<string>[]) =>
  Promise.all(calls.map((call) => call.catch(({ message }: Error) => message)));

test('a lone call is written at once, and those that come meanwhile are one group', async () => {
  const { groups, written, go } = givenGroups();
  const answers = add(groups, ['a', 'b', 'c']);
  expect(written).toEqual([{ key: 'w', calls: ['a'] }]);
  go();
  expect(await Promise.all(answers)).toEqual(['answer to a', 'answer to b', 'answer to c']);
  expect(written.map(({ calls }) => calls)).toEqual([['a'], ['b', 'c']]);
});

test('a group has no more calls than it may', async () => {
  const { groups, written, go } = givenGroups();
  const answers = add(groups, ['a', 'b', 'c', 'd', 'e', 'f']);
  go();
  await Promise.all(answers);
  expect(written.map(({ calls }) => calls)).toEqual([['a'], ['b', 'c', 'd', 'e'], ['f']]);
});

test('two calls about a row are written one after the other, in their order', async () => {
  const { groups, written, go } = givenGroups({ rowOf: (call) => call.charAt(0) });
  const answers = add(groups, ['a1', 'b1', 'a2', 'a3', 'c1']);
  go();
  await Promise.all(answers);
  expect(written.map(({ calls }) => calls)).toEqual([['a1'], ['b1', 'a2', 'c1'], ['a3']]);
});

test('keys have groups at the same time, and take turns in the order in which they wait', async () => {
  const { groups, written, go } = givenGroups({ runningMax: 2 });
  const answers = ['v', 'w', 'x'].flatMap((key) => add(groups, ['a', 'b'], key));
  expect(written.map(({ key }) => key)).toEqual(['v', 'w']);
  go();
  await Promise.all(answers);
  expect(written.map(({ key }) => key)).toEqual(['v', 'w', 'v', 'w', 'x']);
});

test('a call at fault spoils no other of its group', async () => {
  const write = async (_: string, calls: readonly string[]) => {
    if (calls.includes('bad')) throw new RangeError('out of range');
    return calls;
  };
  const isDivisible = (error: unknown) => error instanceof RangeError;
  const { groups } = givenGroups({ write, isDivisible });
  const answers = add(groups, ['a', 'b', 'bad', 'c']);
  expect(await settled(answers)).toEqual(['a', 'b', 'out of range', 'c']);
});

test('a group that fails otherwise is not written again', async () => {
  let groupsWritten = 0;
  const write = async () => {
    groupsWritten += 1;
    throw new Error('connection lost');
  };
  const { groups } = givenGroups({ write, isDivisible: () => false });
  const answers = await settled(add(groups, ['a', 'b', 'c']));
  expect(answers).toEqual(Array(3).fill('connection lost'));
  expect(groupsWritten).toBe(2);
});

test('each call of a group may have an error of its own', async () => {
  const write = async (_: string, calls: readonly string[]) =>
    calls.map((call) => (call === 'b' ? new Error('not b') : call));
  const { groups } = givenGroups({ write });
  expect(await settled(add(groups, ['a', 'b', 'c']))).toEqual(['a', 'not b', 'c']);
});

test('a call that was given up while it waited is not written', async () => {
  const { groups, written, go } = givenGroups();
  const caller = new AbortController();
  const first = groups.add('w', 'a');
  const given = settled([groups.add('w', 'b', caller.signal)]);
  caller.abort(new Error('gone'));
  go();
  expect(await first).toBe('answer to a');
  expect(await given).toEqual(['gone']);
  expect(written).toHaveLength(1);
});

test('calls above the bound are refused', () => {
  const { groups } = givenGroups({ waitingMax: 2 });
  void add(groups, ['a', 'b', 'c']);
  expect(() => groups.add('w', 'd')).toThrow('too many calls of this kind wait');
});

test('groups of one owner, however many its keys, leave room for those of another', async () => {
  const { groups, written, go } = givenGroups({
    runningMax: 4,
    owner: { of: (key) => key.charAt(0), runningMax: 3 },
  });
  const mine = ['a1', 'a2', 'a3', 'a4', 'a5'].flatMap((key) => add(groups, ['x'], key));
  const another = add(groups, ['y'], 'b1');
  expect(written.map(({ key }) => key)).toEqual(['a1', 'a2', 'a3', 'b1']);
  go();
  await Promise.all([...mine, ...another]);
  expect(written).toHaveLength(6);
});
