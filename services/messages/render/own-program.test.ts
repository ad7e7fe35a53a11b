import { expect, test } from '@jest/globals';
import { ownProgram } from './own-program.ts';
import { compileMessage } from './program.ts';

const plan = compileMessage(
  { subject: '', html: '{{ url }}', mjml: '', text: '' },
  {
    ...{ from: { email: 'news@sender.example' }, replyTo: '', feedbackId: [], utm: {}, values: {} },
    tracking: { opens: 'https://mail.example/t/w1/', clicks: 'https://mail.example/r/w1/' },
  },
);
const recipient = {
  ...{ messageId: crypto.randomUUID(), email: 'ann@example.com', contact: {} },
  urls: { unsubscribe: '', preferences: '', confirm: '', webVersion: '' },
  trackingToken: 'T'.repeat(43),
};
const mail = Buffer.from('Content-Type: text/html\r\n\r\n<p>Hello</p>\r\n');

test('a mail that its provider would not take any more goes out uncounted', () => {
  const counted = ownProgram(plan, { mail }).draft(recipient)?.();
  expect(counted?.finished?.length).toBeGreaterThan(mail.length);
  expect(counted?.note).toBeUndefined();
  const left = ownProgram(plan, { mail }, mail.length + 10).draft(recipient)?.();
  expect(left?.finished).toBe(mail);
  expect(left?.note).toBe('sent without tracking: it would be too large');
});
