import { expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { MessageBuffer } from './buffer.ts';
import { appendValue } from './quoted-printable.ts';

const encoded = (value: string): string => {
  const buffer = new MessageBuffer();
  appendValue(buffer, value);
  return buffer.written().toString('latin1');
};

async function read(body: string): Promise<string> {
  const head =
    'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable';
  return (await PostalMime.parse(`${head}\r\n\r\n${body}`)).text?.replace(/\n$/, '') ?? '';
}

const link = `https://mail.example/visit/${'aB-_9'.repeat(40)}`;
const values = {
  'a short value': 'Ashford',
  'a value as long as a line': 'x'.repeat(72),
  'a value that is longer by one': 'x'.repeat(73),
  'a long link': link,
  'a long link with an equals sign': `${link}?id=1`,
  'a long link with letters beyond ASCII': `${link}/müller/${'ü'.repeat(50)}`,
  'a value with spaces at the ends of lines': `${' '.repeat(80)}x`,
  'a dot at every place': '.'.repeat(200),
  'a dot where the second line begins': `${'x'.repeat(72)}.example`,
  'a dot at the end of the first line': `${'x'.repeat(71)}.${'y'.repeat(10)}`,
};

test.each(Object.entries(values))('%s is read as it was written', async (_, value) => {
  const body = encoded(value);
  expect(await read(body)).toBe(value);
  const lines = body.split('\r\n');
  expect(lines.pop()).toBe('');
  for (const line of lines) {
    expect(line.length).toBeLessThanOrEqual(76);
    // SMTP would take one for the end of the message.
    expect(line).not.toMatch(/^\./);
  }
});
