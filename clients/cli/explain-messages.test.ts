import { expect, test } from '@jest/globals';
import { explanationText } from './explain-messages.ts';

test('each reason is a line, newest first as it came, with advice once below it', () => {
  const bounced = { code: 'bounced', text: 'It was refused. (550 no\nsuch user)', advice: 'Ask.' };
  const text = explanationText('bob@example.com', {
    summary: 'The mail server refused\nthe address for good.',
    reasons: [
      { ...bounced, at: '2026-11-27T04:12:33.123Z', message_id: 'm2' },
      { ...bounced, at: '2026-11-26T04:12:33.123Z', message_id: 'm1' },
      { code: 'suppressed', text: 'The address is on the suppression list.' },
    ],
    not_read: ['domains'],
  });
  expect(text.split('\n')).toEqual([
    'bob@example.com: The mail server refused the address for good.',
    '',
    '2026-11-27 04:12  It was refused. (550 no such user) [m2]',
    '                  > Ask.',
    '2026-11-26 04:12  It was refused. (550 no such user) [m1]',
    'now               The address is on the suppression list.',
    '',
    'Not read: domains.',
  ]);
});
