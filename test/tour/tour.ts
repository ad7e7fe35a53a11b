import { act, givenTest, good, untilStatus } from '../stack/given.ts';
import { passTime } from '../stack/time.ts';
import { until } from '../stack/until.ts';
import { withRun } from '../stack/workflows.ts';
import type { TestStack } from '../stack.ts';

export type Stop = { id: string; emails: string[]; details: string };

const recipients = 400;

/** The texts for operators on the page of a run. */
export function detailsOf(stack: TestStack, id: string): Promise<string> {
  return withRun(stack, id, async (handle) => {
    const metadata = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    return metadata.currentDetails;
  });
}

/**
 * Takes a broadcast with a test through every state that operators see, and stops in each: `at` is
 * called with the name of the state, and the broadcast continues when it resolves.
 */
export async function tour(
  stack: TestStack,
  at: (state: string, stop: Stop) => Promise<void>,
): Promise<void> {
  const { id, emails, templates } = await givenTest(stack, recipients);
  const stop = async (state: string, phase: string, next = ''): Promise<void> => {
    let details = '';
    await until(`the run says “${phase}”`, async () => {
      details = await detailsOf(stack, id).catch(() => '');
      return details.includes(`| Phase | ${phase}`) && details.includes(`| Next step | ${next}`);
    });
    await at(state, { id, emails, details });
  };
  const later = { scheduled_date: '2099-05-01', scheduled_time: '09:00', timezone: 'Europe/Paris' };
  good(await act(stack, 'schedule', id, later));
  await stop('scheduled', 'scheduled for 2099-05-01T07:00:00.000Z');
  await passTime(stack, id);
  await stop('testing', 'testing: the sample is being sent', 'sends slice');
  await untilStatus(stack, id, 'test_completed');
  await stop('waiting', 'test completed: waiting for a winner');
  good(await act(stack, 'selectWinner', id, { template_id: templates[1] }));
  await stop('sending', 'winner selected: the rest is being sent', 'sends slice');
  good(await act(stack, 'pause', id));
  await stop('paused-by-a-person', 'paused by a person');
  await stack.sink.behave({ credentials: { username: 'nobody', password: 'knows' } });
  good(await act(stack, 'resume', id));
  await stop('paused-by-an-outage', 'paused by an outage');
  await stack.sink.behave({ credentials: null });
  await passTime(stack, id);
  await untilStatus(stack, id, 'sent');
  await stop('finished', 'sent');
}
