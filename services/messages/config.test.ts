import { expect, test } from '@jest/globals';
import { readEnv } from '#lib/config.ts';
import { readFeedbackSender, readSigningThreads } from './config.ts';

const senderOf = (value?: string) =>
  readEnv(value === undefined ? {} : { FEEDBACK_SENDER_ID: value }, readFeedbackSender);

test('the sender of Feedback-ID is that of the setting', () => {
  expect(senderOf()).toBe('postrider');
  expect(senderOf('acme-mail_2026')).toBe('acme-mail_2026');
});

test.each(['acme', 'a'.repeat(16), 'acme mail', 'acme:mail', 'ácmemail'])(
  'the sender %p of Feedback-ID is refused',
  (value) => {
    expect(() => senderOf(value)).toThrow('FEEDBACK_SENDER_ID must be 5 to 15 letters');
  },
);

test('one thread signs where nothing is set', () => {
  expect(readEnv({}, readSigningThreads)).toBe(1);
  expect(() => readEnv({ DKIM_THREADS: '0' }, readSigningThreads)).toThrow('DKIM_THREADS');
});
