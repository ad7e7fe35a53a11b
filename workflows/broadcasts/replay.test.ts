import { expect, test } from '@jest/globals';
import { DeterminismViolationError } from '@temporalio/workflow';
import { historiesOf, readHistory, replay } from '../../test/setup/replay.ts';

const names = historiesOf('broadcasts');

test.each(names)(
  'the history of %s replays',
  async (name) => {
    await replay('broadcasts', readHistory('broadcasts', name));
  },
  30_000,
);

test('a history that does not fit the workflow fails', async () => {
  const history = readHistory('broadcasts', names[0] ?? '');
  for (const { activityTaskScheduledEventAttributes: scheduled } of history.events) {
    if (scheduled?.activityType.name === 'readPlan') scheduled.activityType.name = 'finish';
  }
  await expect(replay('broadcasts', history)).rejects.toBeInstanceOf(DeterminismViolationError);
}, 30_000);
