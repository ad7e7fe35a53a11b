import { expect, test } from '@jest/globals';
import { DeterminismViolationError } from '@temporalio/workflow';
import { historiesOf, readHistory, replay } from '../../test/setup/replay.ts';

const names = historiesOf('contacts');

test.each(names)(
  'the history of %s replays',
  async (name) => {
    await replay('contacts', readHistory('contacts', name));
  },
  30_000,
);

test('a history that does not fit the workflow fails', async () => {
  const history = readHistory('contacts', names[0] ?? '');
  for (const { activityTaskScheduledEventAttributes: scheduled } of history.events) {
    if (scheduled?.activityType.name === 'readBuild') scheduled.activityType.name = 'build';
  }
  await expect(replay('contacts', history)).rejects.toBeInstanceOf(DeterminismViolationError);
}, 30_000);
