import { afterEach, expect, jest, test } from '@jest/globals';
import { CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { asActivity } from './activity.ts';

afterEach(() => void jest.useRealTimers());

test.each(['before', 'after'])(
  'an activity that was cancelled %s it began, and goes on, is given up',
  async (when) => {
    jest.useFakeTimers();
    const environment = new MockActivityEnvironment();
    if (when === 'before') environment.cancel();
    const endless = environment.run(asActivity(() => new Promise<void>(() => {})));
    const failure = endless.catch((error: unknown) => error);
    environment.cancel();
    await jest.advanceTimersByTimeAsync(15_000);
    expect(await failure).toBeInstanceOf(CancelledFailure);
  },
);

test('an activity that ends soon after it was cancelled has its own answer', async () => {
  const environment = new MockActivityEnvironment();
  const counts = asActivity(async () => {
    await environment.context.cancelled.catch(() => {});
    return 7;
  });
  const running = environment.run(counts);
  environment.cancel();
  expect(await running).toBe(7);
});
