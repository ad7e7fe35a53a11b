import { Code } from '@connectrpc/connect';
import { afterAll, expect, test } from '@jest/globals';
import { MailReader } from './mail-reader.ts';

const reader = new MailReader();
afterAll(() => reader.close());

const kibibytes64 = 64 * 1024;
const fill = (head: string, unit: string) =>
  head + unit.repeat((kibibytes64 - head.length) / unit.length);
const typed = (type: string) => `Content-Type: ${type}\r\n\r\n`;

/** How many of a workspace's reads are refused, of which ten may wait for the thread. */
async function refusedOf(mail: string): Promise<number> {
  const reads = Array.from({ length: 13 }, () => reader.read(Buffer.from(mail, 'latin1'), 'w1'));
  const settled = await Promise.allSettled(reads);
  const reasons = settled.flatMap((read) => (read.status === 'rejected' ? [read.reason] : []));
  expect(reasons.every(({ code }) => code === Code.ResourceExhausted)).toBe(true);
  return reasons.length;
}

const utf8 = 'text/plain; charset=utf-8';
const quoted = '\r\nContent-Transfer-Encoding: quoted-printable';
const parts = `--x\r\n${typed(utf8 + quoted)}Hi\r\n--x\r\n${typed('text/html; charset=utf-8')}Hi\r\n--x--`;

test.each([
  ['plain text', fill(typed(utf8), `${'x'.repeat(70)}\r\n`)],
  ['without types', 'Subject: Hi\r\n\r\nHello\r\n'],
  ['text and HTML', typed('multipart/alternative;\r\n boundary="x"') + parts],
])('a small mail of a usual kind is read without a thread: %s', async (_, mail) => {
  expect(await refusedOf(mail)).toBe(0);
});

test.each([
  ['mails within mails', fill('', typed('message/rfc822'))],
  ['a type with a comment', fill(typed('mes(x)sage/rfc822'), 'Hello\r\n')],
  ['lines that flow', fill(typed('text/plain; format=flowed'), '> \r\n')],
  ['lines that flow, folded', fill(typed(`${utf8};\r\n format=flowed`), `${'x'.repeat(70)}\r\n`)],
  ['empty lines', fill(typed(utf8), '\n')],
  ['empty lines in quoted-printable', fill(typed(utf8 + quoted), '=0A')],
  ['base64', fill(typed(`${utf8}\r\nContent-Transfer-Encoding: base64`), 'CgoK')],
])('a small mail that may take long is read in the thread: %s', async (_, mail) => {
  expect(await refusedOf(mail)).toBeGreaterThan(0);
});
