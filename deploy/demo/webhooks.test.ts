import { expect, test } from '@jest/globals';
import { compare, expectedOf, type ReceivedWebhook } from './webhooks.ts';

const expected = expectedOf(
  { good: 4, created: 3, bad: [] },
  {
    news: { mails: 1, opened: 1, clicked: 0, openedBy: ['a@example.com'] },
    question: { mails: 1, opened: 1, clicked: 1, openedBy: ['b@example.com'] },
  },
  { broadcast: { sent_count: 4 }, segment: { expected: 1, estimated: 1, sent: 1 } },
);

function received(changes: Record<string, number> = {}, unverified = 0): ReceivedWebhook {
  const distinct = { ...expected, ...changes };
  const types = Object.entries(distinct).map(([type, count]) => {
    const tally = { events: count, distinct: count, verified: count };
    return [type, tally] as const;
  });
  const total = Object.values(distinct).reduce((sum, count) => sum + count, 0);
  const verified = total - unverified;
  return { events: total, distinct: total, verified, types: Object.fromEntries(types) };
}

test('webhooks that agree with what the demo did are no problem', () => {
  const { facts, problems } = compare(expected, received());
  expect(problems).toEqual([]);
  expect(facts).toContainEqual(['webhooks contact.created', 3]);
  expect(facts).toContainEqual(['webhooks email.opened', 2]);
  expect(facts.at(-1)).toEqual(['webhooks in all, all verified', 16]);
});

test('a missing webhook, one too many and one that is not verified are problems', () => {
  const counts = received({ 'list.subscribed': 3, 'email.sent': 6 }, 2);
  expect(compare(expected, counts).problems).toEqual([
    'webhooks list.subscribed: 3 instead of 4',
    'webhooks email.sent: 6 instead of 5',
    '2 webhooks could not be verified',
  ]);
});
