import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { MailReader } from './mail-reader.ts';

const kibibytes64 = 64 * 1024;
const fill = (head: string, unit: string) =>
  head + unit.repeat((kibibytes64 - head.length) / unit.length);
const typed = (type: string) => `Content-Type: ${type}\r\n\r\n`;

/** Whether a workspace's reads wait for the thread, where ten may. */
async function isReadInThread(mail: string): Promise<boolean> {
  const reader = new MailReader();
  const read = () => reader.read(Buffer.from(mail, 'latin1'), 'w1');
  try {
    await Promise.all(Array.from({ length: 13 }, read));
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: Code.ResourceExhausted });
    return true;
  } finally {
    await reader.close();
  }
}

const utf8 = 'text/plain; charset=utf-8';
const quoted = '\r\nContent-Transfer-Encoding: quoted-printable';
const parts = `--x\r\n${typed(utf8 + quoted)}Hi\r\n--x\r\n${typed('text/html; charset=utf-8')}Hi\r\n--x--`;

test.each([
  ['plain text', fill(typed(utf8), `${'x'.repeat(70)}\r\n`)],
  ['without types', 'Subject: Hi\r\n\r\nHello\r\n'],
  ['text and HTML', typed('multipart/alternative;\r\n boundary="x"') + parts],
])('a small mail of a usual kind is read without a thread: %s', async (_, mail) => {
  expect(await isReadInThread(mail)).toBe(false);
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
  expect(await isReadInThread(mail)).toBe(true);
});
