import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { WarmUpSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { storedWarmUp } from './warm-up.ts';

const stored = (given: MessageInitShape<typeof WarmUpSchema>) =>
  storedWarmUp(create(WarmUpSchema, given));

test('a warm-up of 1 to 90 days is stored as given, even with falling limits', () => {
  const limits = [1, ...Array.from({ length: 89 }, (_, index) => 10_000_000 - index)];
  expect(stored({ startedOn: '2028-02-29', dailyLimits: limits })).toEqual({
    started_on: '2028-02-29',
    daily_limits: limits,
  });
  expect(stored({ startedOn: '2026-01-01', dailyLimits: [5] }).daily_limits).toEqual([5]);
});

test.each(['', 'today', '2026-02-30', '2026-13-01', '2026-1-1', '2026-01-01T00:00:00Z'])(
  'a warm-up from “%s” is refused',
  (startedOn) => {
    expect(() => stored({ startedOn, dailyLimits: [1] })).toThrow(
      expect.objectContaining({
        code: Code.InvalidArgument,
        rawMessage: 'warm-up started_on must be a date such as 2026-11-21',
      }),
    );
  },
);

test.each([
  ['no day', [], 'warm-up must have 1 to 90 daily limits'],
  ['91 days', Array(91).fill(1), 'warm-up must have 1 to 90 daily limits'],
  ['a day of 0', [1, 0], 'warm-up daily limit must be between 1 and 10000000'],
  ['a day of -1', [-1], 'warm-up daily limit must be between 1 and 10000000'],
  ['a day of 10,000,001', [10_000_001], 'warm-up daily limit must be between 1 and 10000000'],
])('a warm-up with %s is refused', (_, dailyLimits, rawMessage) => {
  expect(() => stored({ startedOn: '2026-01-01', dailyLimits })).toThrow(
    expect.objectContaining({ code: Code.InvalidArgument, rawMessage }),
  );
});
