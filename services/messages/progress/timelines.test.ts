import { setImmediate as turn } from 'node:timers/promises';
import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import type { Stretch, Timeline } from './timeline.ts';
import { createTimelines } from './timelines.ts';

const nothing: Timeline = {
  ...{ since: 0, step: 1, sent: [], opened: [0], delivered: [], returned: [], complained: [] },
  bounces: [],
  waiting: [],
  receivers: [],
};

/** Reads that end when the test says so. */
function heldReads() {
  const asked: string[] = [];
  const ends: { good(): void; bad(): void }[] = [];
  const read = ({ broadcastId }: Stretch) => {
    asked.push(broadcastId);
    return new Promise<Timeline>((resolve, reject) => {
      ends.push({
        good: () => resolve({ ...nothing, sent: [asked.length] }),
        bad: () => reject(new Error('too late')),
      });
    });
  };
  const timelineOf = createTimelines(read);
  const ask = (broadcastId: string) =>
    timelineOf({ workspaceId: 'w', broadcastId, since: 0, until: 1, isOver: false });
  return { asked, ends, ask };
}

test('a thousand callers share one read, and the next ones get its answer', async () => {
  const { asked, ends, ask } = heldReads();
  const answers = Array.from({ length: 1_000 }, () => ask('a'));
  await turn();
  ends[0]?.good();
  const [first] = await Promise.all(answers);
  expect(await ask('a')).toBe(first);
  expect(asked).toEqual(['a']);
});

test('broadcasts are read one after the other, and too many are refused', async () => {
  const { asked, ends, ask } = heldReads();
  const names = Array.from({ length: 20 }, (_, index) => `b${index}`);
  const answers = names.map(ask);
  await expect(ask('one more')).rejects.toMatchObject({ code: Code.Unavailable });
  for (const index of names.keys()) {
    await turn();
    expect(asked).toHaveLength(index + 1);
    ends[index]?.good();
    await answers[index];
  }
  expect(asked).toEqual(names);
});

test('a failure holds up no other broadcast, and is kept, too', async () => {
  const { asked, ends, ask } = heldReads();
  const [bad, good] = [ask('bad'), ask('good')];
  await turn();
  ends[0]?.bad();
  await expect(bad).rejects.toThrow('too late');
  await turn();
  ends[1]?.good();
  await good;
  await expect(ask('bad')).rejects.toThrow('too late');
  expect(asked).toEqual(['bad', 'good']);
});
