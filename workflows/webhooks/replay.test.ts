import { expect, test } from '@jest/globals';
import { DeterminismViolationError } from '@temporalio/workflow';
import { historiesOf, readHistory, replay } from '../../test/setup/replay.ts';

const names = historiesOf('webhooks');

test.each(names)(
  'the history of %s replays',
  async (name) => {
    await replay('webhooks', readHistory('webhooks', name));
  },
  30_000,
);

test('a history that does not fit the workflow fails', async () => {
  const history = readHistory('webhooks', names[0] ?? '');
  for (const { activityTaskScheduledEventAttributes: scheduled } of history.events) {
    if (scheduled?.activityType.name === 'readRetries') scheduled.activityType.name = 'deliver';
  }
  await expect(replay('webhooks', history)).rejects.toBeInstanceOf(DeterminismViolationError);
}, 30_000);
