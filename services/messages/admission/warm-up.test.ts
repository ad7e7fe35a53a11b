import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { WarmUpSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { todayOf } from './warm-up.ts';

const warmUp = create(WarmUpSchema, { startedOn: '2026-02-27', dailyLimits: [50, 100, 200] });

test.each([
  ['2026-02-01T12:00:00Z', 50],
  ['2026-02-26T23:59:59.999Z', 50],
  ['2026-02-27T00:00:00Z', 50],
  ['2026-02-27T23:59:59.999Z', 50],
  ['2026-02-28T00:00:00Z', 100],
  ['2026-03-01T12:00:00Z', 200],
  ['2026-03-02T00:00:00Z', undefined],
])('at %s a warm-up from 2026-02-27 allows %s', (now, limit) => {
  expect(todayOf(warmUp, new Date(now)).limit).toBe(limit);
});

test('a day ends at midnight of UTC', () => {
  expect(todayOf(warmUp, new Date('2026-02-28T23:30:00Z'))).toEqual({
    date: '2026-02-28',
    limit: 100,
    endsAt: new Date('2026-03-01T00:00:00Z'),
  });
});

test('without a warm-up a day has no limit', () => {
  expect(todayOf(undefined, new Date('2026-02-28T23:30:00Z')).limit).toBeUndefined();
});
