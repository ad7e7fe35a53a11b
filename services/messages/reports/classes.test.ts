import { expect, test } from '@jest/globals';
import { type BounceClass, classOfBounce, classOfComplaint } from './classes.ts';

// Words as Postfix, Exim, Gmail, Outlook and others write them.
test.each<[words: string, BounceClass]>([
  ['smtp; 550 5.1.1 [address]: Recipient address rejected: User unknown', 'hard'],
  ['550-5.1.1 The email account that you tried to reach does not exist. 5.1.1.', 'hard'],
  ['550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup', 'hard'],
  ['550 No such user here', 'hard'],
  ['550 5.7.17 mailbox owner has changed', 'hard'],
  ['550 Unknown sender: user unknown', 'unknown'],
  ['552 5.2.2 Over quota', 'soft'],
  ['552 mailbox is full', 'soft'],
  ['450 4.2.0 greylisted', 'soft'],
  ['451 try again later', 'soft'],
  ['550 5.2.1 The user is receiving mail too quickly', 'soft'],
  ['550 5.4.4 Host not found', 'soft'],
  ['554 4.4.7 message expired', 'expired'],
  ['delivery temporarily suspended: message expired', 'expired'],
  ['552 5.3.4 Message size exceeds fixed limit', 'message'],
  ['554 5.6.0 message content rejected', 'message'],
  ['552 message too large', 'message'],
  ['550 5.7.1 Our system has detected that this message is likely unsolicited', 'sender'],
  ['550 5.7.26 not DMARC aligned', 'sender'],
  ['550 5.1.8 Sender address rejected: Domain not found', 'sender'],
  ['554 Service unavailable; client host [192.0.2.1] blocked', 'sender'],
  ['550 user unknown; listed at 5.9.12.3', 'hard'],
  ['550 rejected', 'unknown'],
  ['', 'unknown'],
])('%s is %s', (words, expected) => {
  expect(classOfBounce({ words, category: '' })).toBe(expected);
});

test.each<[category: string, words: string, BounceClass]>([
  ['hard', '', 'hard'],
  ['HardBounce', '', 'hard'],
  ['bad_mailbox', 'x', 'hard'],
  ['soft', '550 5.1.1 no such user', 'hard'],
  ['hard', '550 5.7.1 policy', 'sender'],
  ['hard', '552 mailbox is full', 'hard'],
  ['constructor', '550 no such user', 'hard'],
  ['something new', '', 'unknown'],
])(
  'the word %s with "%s" is %s: a code wins over the word, and the word over the words',
  (category, words, expected) => {
    expect(classOfBounce({ words, category })).toBe(expected);
  },
);

test('a feedback report is a complaint unless it says otherwise', () => {
  const types = ['abuse', 'fraud', 'virus', '', 'not-spam', 'opt-out', 'not_spam'];
  expect(types.map(classOfComplaint)).toEqual([
    ...['complaint', 'complaint', 'complaint', 'complaint'],
    ...[undefined, 'left', undefined],
  ]);
});
