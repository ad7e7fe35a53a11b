import { beforeAll, expect, test } from '@jest/globals';
import { mailsTo, readBroadcast, setRate } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { withRun } from '../stack/workflows.ts';
import { tour } from './tour.ts';

const stack = borrowedStack();
beforeAll(async () => {
  await setRate(stack, 3_000);
}, 60_000);

/** The texts on the page of a run beside the phase, by state. */
const told: Record<string, RegExp[]> = {
  scheduled: [/Next step \| waits until 2099-05-01T07:00:00.000Z/, /Reason \| {2}\|/],
  testing: [/Recipients \| 400/, /Next step \| sends slice \d/],
  waiting: [/Sent \| 200/, /Next step \| waits until \d{4}-/],
  sending: [/Winner \| t/, /Next step \| sends slice \d/],
  'paused-by-a-person': [/Next step \| waits for a change/],
  'paused-by-an-outage': [
    /Next step \| waits until \d{4}-/,
    /Reason \| MAIL was refused: 530 authentication required/,
  ],
  finished: [/Sent \| 400/, /Next step \| none/],
};

test('in every state the Temporal UI shows phase, counts, next step and reason', async () => {
  const seen: string[] = [];
  let everybody: string[] = [];
  let broadcastId = '';
  await tour(stack, async (state, { id, emails, details }) => {
    seen.push(state);
    broadcastId = id;
    everybody = emails;
    for (const words of told[state] ?? [/never/]) expect(details).toMatch(words);
    expect(details).not.toContain('@');
  });
  expect(seen).toEqual(Object.keys(told));
  expect(await readBroadcast(stack, broadcastId)).toMatchObject({
    status: 'sent',
    sent_count: 400,
  });
  expect(mailsTo(stack, everybody)).toHaveLength(400);
  const description = await withRun(stack, broadcastId, (handle) => handle.describe());
  const { searchAttributes } = description;
  expect(searchAttributes).toMatchObject({ BroadcastStatus: ['sent'], RecipientCount: [400] });
}, 120_000);
