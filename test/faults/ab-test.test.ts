import { expect, test } from '@jest/globals';
import { givenTest, mailsTo, readBroadcast, sendNow, untilStatus } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { passTime } from '../stack/time.ts';

const stack = borrowedStack();

test('a test whose deadline passes while the worker is down is decided after its restart, and the rest is sent once', async () => {
  const { id, emails, templates } = await givenTest(stack, 60);
  await sendNow(stack, id);
  await untilStatus(stack, id, 'test_completed');
  expect(mailsTo(stack, emails)).toHaveLength(30);
  await stack.processes.without(['broadcasts-worker'], async () => {
    await passTime(stack, id);
    await passTime(stack, id);
    expect((await readBroadcast(stack, id)).status).toBe('test_completed');
  });
  const broadcast = await untilStatus(stack, id, 'sent');
  expect(broadcast).toMatchObject({ sent_count: 60, winning_template: templates[0] });
  expect(mailsTo(stack, emails)).toHaveLength(60);
}, 90_000);

test.each([
  [0, 0],
  [1, 1],
])(
  'a test on %i recipients ends by itself, with %i mails',
  async (recipients, mails) => {
    const { id, emails } = await givenTest(stack, recipients);
    await sendNow(stack, id);
    const broadcast = await untilStatus(stack, id, 'sent');
    expect(broadcast).toMatchObject({ enqueued_count: recipients, sent_count: mails });
    expect(mailsTo(stack, emails)).toHaveLength(mails);
  },
  60_000,
);
