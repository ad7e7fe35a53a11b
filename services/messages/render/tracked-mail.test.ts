import { expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { otherMails } from '../../../test/relay/other-mails.ts';
import { withEdits } from '../mime/html-parts.ts';
import { type Counted, trackMail, trackQuickly } from './tracked-mail.ts';

const token = 'T'.repeat(43);
const writing = {
  utm: {},
  tracking: { opens: 'https://mail.example/t/w1/', clicks: 'https://mail.example/r/w1/' },
  linkKey: Buffer.alloc(32, 1),
};
const everything: Counted = { opens: true, clicks: true };
const maxBytes = 26_000_000;

const answerTo = (mail: Buffer, counted = everything) =>
  trackMail({ mail, counted, writing, token, maxBytes });

/** The mail with its changes. */
function tracked(mail: Buffer | string, counted = everything): Buffer {
  const bytes = Buffer.from(mail);
  const answer = answerTo(bytes, counted);
  if ('reason' in answer) throw new Error(answer.reason);
  return withEdits(bytes, answer.edits);
}

const reasonFor = (mail: string) => {
  const answer = answerTo(Buffer.from(mail, 'latin1'));
  return 'reason' in answer ? answer.reason : undefined;
};

const lines = (...all: string[]) => `${all.join('\r\n')}\r\n`;
const htmlMail = (html: string, encoding = '7bit', charset = 'utf-8') =>
  lines(
    'From: a@b.example',
    `Content-Type: text/html; charset=${charset}`,
    `Content-Transfer-Encoding: ${encoding}`,
    '',
    html,
  );
const multipart = (type: string, ...parts: string[]) =>
  lines(
    `Content-Type: multipart/${type}; boundary="=b"`,
    '',
    'before',
    ...parts.flatMap((part) => ['--=b', part]),
    '--=b--',
    'after',
  );
const htmlPart = lines('Content-Type: text/html', '', '<a href="https://a.example/">a</a>');

const read = async (mail: Buffer) => (await PostalMime.parse(mail)).html ?? '';
const counted = /href="https:\/\/mail\.example\/r\/w1\/T{43}\/0\/[\w-]+"/;
const pixel = `<img src="https://mail.example/t/w1/${token}" width="1" height="1" alt="" style="display:block">`;

test.each(['7bit', '8bit', 'quoted-printable', 'base64'])(
  'links of HTML in %s are counted, and all else is read as before',
  async (encoding) => {
    const html =
      '<body><p>Gr\u00fc\u00dfe = "\u20ac" \t</p><a href="https://a.example/?x=1&amp;y=2">a</a></body>';
    const bytes = Buffer.from(html);
    const written = {
      base64: bytes.toString('base64'),
      'quoted-printable': html.replace(/[^ -<>-~]/gu, (letter) =>
        [...Buffer.from(letter)].map((byte) => `=${byte.toString(16).padStart(2, '0')}`).join(''),
      ),
    }[encoding];
    const mail = tracked(htmlMail(written ?? html, encoding));
    const shown = await read(mail);
    expect(shown.trimEnd()).toBe(
      html
        .replace(/href="[^"]+"/, counted.exec(shown)?.[0] ?? '')
        .replace('</body>', `${pixel}</body>`),
    );
    expect(mail.toString('latin1')).toMatch(
      encoding === 'base64' ? /Encoding: base64/ : /Encoding: quoted-printable/,
    );
    const longest = Math.max(
      ...mail
        .toString('latin1')
        .split('\r\n')
        .map((line) => line.length),
    );
    expect(longest).toBeLessThan(100);
  },
);

test('only the HTML part of a mail changes', () => {
  const file = lines(
    'Content-Type: text/html; name=a.html',
    '',
    '<a href="https://b.example/">b</a>',
  );
  const text = lines('Content-Type: text/plain', '', ' https://a.example/ \t');
  const mail = multipart('mixed', text, htmlPart, file);
  const changed = tracked(mail).toString('latin1');
  const [before, behind] = mail.split(htmlPart);
  expect(changed.startsWith(before ?? '')).toBe(true);
  expect(changed.endsWith(behind ?? '')).toBe(true);
});

test('links that lead to no web page stay, and so does what stands in braces', async () => {
  const links = ['mailto:a@b.example', '#top', '/path', 'javascript:x', '{{ url }}', 'tel:1'];
  const html = links.map((link) => `<a href='${link}'>x</a>`).join('');
  const mail = htmlMail(html);
  expect(tracked(mail, { opens: false, clicks: true }).toString()).toBe(mail);
});

test('opens and clicks are asked for apart', async () => {
  const opens = await read(tracked(htmlMail(htmlPart), { opens: true, clicks: false }));
  expect(opens).toContain(pixel);
  expect(opens).toContain('href="https://a.example/"');
  const clicks = await read(tracked(htmlMail(htmlPart), { opens: false, clicks: true }));
  expect(clicks).not.toContain('<img');
  expect(clicks).toMatch(counted);
});

test('letters of other charsets stay, and addresses with them are not counted', () => {
  const html = '<a href="https://a.example/\u00fc">\u00fc</a><a href=https://b.example/>b</a>';
  const mail = Buffer.from(htmlMail(html, '8bit', 'iso-8859-1'), 'latin1');
  const shown = tracked(mail, { opens: false, clicks: true }).toString('latin1');
  expect(shown.replaceAll('=\r\n', '')).toContain('"https://a.example/=FC">=FC</a>');
});

test.each(Object.entries(otherMails))(
  'a mail of %s is read, and its text stays',
  async (name, text) => {
    const mail = Buffer.from(text, 'latin1');
    const answer = answerTo(mail);
    if (name === 'smime' || name === 'pgp') {
      expect(answer).toEqual({ reason: 'it is signed or encrypted' });
      return;
    }
    if ('reason' in answer) throw new Error(answer.reason);
    const [before, behind] = await Promise.all([
      PostalMime.parse(mail),
      PostalMime.parse(withEdits(mail, answer.edits)),
    ]);
    const without = (html = '') =>
      html
        .replaceAll(/ href="[^"]*"/g, '')
        .replace(pixel, '')
        .trim();
    expect(without(behind.html)).toBe(without(before.html));
    const rest = ({ text, attachments, subject }: typeof before) => ({
      text,
      attachments,
      subject,
    });
    expect(rest(behind)).toEqual(rest(before));
  },
);

test('HTML within a signed part stays, and other HTML beside it is counted', async () => {
  const signed = multipart('signed', htmlPart).replaceAll('=b', '=c');
  const mail = multipart('mixed', signed, htmlPart);
  const changed = tracked(mail).toString('latin1');
  expect(changed).toContain(signed);
  expect(changed.match(/mail\.example\/r/g)).toHaveLength(1);
});

test.each(['base64', 'quoted-printable', '7bit'])(
  'a mail whose last part is in %s and has no delimiter behind it ends with a line',
  async (encoding) => {
    const html = '<a href="https://a.example/">a</a>';
    const written = {
      base64: Buffer.from(html).toString('base64'),
      'quoted-printable': html.replace('=', '=3D'),
    }[encoding];
    const part = lines(
      `Content-Type: text/html\r\nContent-Transfer-Encoding: ${encoding}`,
      '',
      written ?? html,
    );
    for (const mail of [multipart('mixed', part), multipart('mixed', nested(2, part))]) {
      const open = mail.slice(0, mail.indexOf(part) + part.length);
      const changed = tracked(open);
      expect(changed.toString('latin1').endsWith('\r\n')).toBe(true);
      expect(await read(changed)).toMatch(counted);
    }
  },
);

test.each(['\r\n', ''])('a part with a type, %j and nothing else stays', (end) => {
  const empty = `Content-Type: text/html${end}`;
  const mail = multipart('mixed', htmlPart, empty);
  const changed = tracked(mail).toString('latin1');
  expect(changed).toContain(`--=b\r\n${empty}\r\n--=b--`);
  expect(changed).toContain(pixel.replaceAll('=', '=3D').slice(0, 20));
});

test('HTML that is a file by a name of RFC 2231 stays', () => {
  const file = lines("Content-Type: text/html; name*=utf-8''a.html", '', '<a href="https://b.co">');
  expect(tracked(multipart('mixed', htmlPart, file)).toString()).toContain(file);
});

const nested = (levels: number, part = htmlPart): string =>
  levels === 0
    ? part
    : multipart('mixed', nested(levels - 1, part)).replaceAll('=b', `b${levels}=`);

test.each<[string, string, string]>([
  ['a boundary that begins another line', multipart('mixed', htmlPart, '--=bc'), 'told apart'],
  ['a boundary without an end', 'Content-Type: multipart/mixed\r\n\r\n--\r\n', 'told apart'],
  ['UTF-16', htmlMail('<a>', 'base64', 'utf-16'), 'its charset is a rare one'],
  ['ISO-2022-JP', htmlMail('<a>', '7bit', 'iso-2022-jp'), 'its charset is a rare one'],
  ['another encoding', htmlMail('<a>', 'x-uuencode'), 'encoding that cannot be read'],
  ['wrong base64', htmlMail('PGE+=PGE+', 'base64'), 'not encoded as it says'],
  ['wrong quoted-printable', htmlMail('<a href=x>', 'quoted-printable'), 'not encoded as it says'],
  ['a space before a colon', htmlPart.replace('-Type:', '-Type :'), 'space before its colon'],
  ['such a field beside', `X-Odd : 1\r\n${htmlPart}`, 'space before its colon'],
  ['two types', `Content-Type: text/html\r\n${htmlPart}`, 'content-type twice'],
  ['a comment in its type', htmlPart.replace('text/html', 'text/html (x)'), 'type that cannot'],
  [
    'two boundaries',
    multipart('mixed', htmlPart).replace('="=b"', '="=b"; boundary*=c'),
    'type that cannot',
  ],
  ['a charset in pieces', htmlMail('<a>', '7bit', 'utf-8; charset*0=utf-16'), 'type that cannot'],
  ['PGP in its HTML', htmlMail('-----BEGIN PGP MESSAGE-----'), 'signed or encrypted'],
  ['many levels', nested(11), 'over 10 levels'],
  ['many parts', multipart('mixed', ...Array.from({ length: 201 }, () => htmlPart)), '200 parts'],
  ['much HTML', htmlMail('x'.repeat(1024 * 1024)), 'larger than 1 MiB'],
])('a mail with %s is left as it is, with the reason', (_, mail, reason) => {
  expect(reasonFor(mail)).toMatch(reason);
});

test('a mail that would be too large is left as it is', () => {
  const mail = Buffer.from(htmlMail('<a href="https://a.example/">a</a>'));
  const request = { mail, counted: everything, writing, token, maxBytes: mail.length + 50 };
  expect(trackMail(request)).toEqual({ reason: 'it would be too large' });
});

const mib = 1024 * 1024;
test.each<[string, string]>([
  [
    '25 MB of delimiters',
    lines('Content-Type: multipart/mixed; boundary=b', '', '--b\r\n'.repeat(5 * mib)),
  ],
  ['10 MB that are nearly delimiters', multipart('mixed', htmlPart, '\r\n--='.repeat(2 * mib))],
  ['25 MB of hyphens', multipart('mixed', htmlPart, '-'.repeat(25 * mib))],
  ['1 MiB of line ends in base64', htmlMail(`${'\r\n'.repeat(mib / 2)}!`, 'base64')],
  ['4 MiB of soft breaks', htmlMail('=\r\n'.repeat(mib), 'quoted-printable')],
  ['1 MiB of spaces', htmlMail(`${' '.repeat(mib - 100)}x`, 'quoted-printable')],
  ['1 MiB of tags that do not end', htmlMail('<a '.repeat(mib / 3 - 100))],
  ['1 MiB of ends of bodies', htmlMail('</body>'.repeat(mib / 8))],
  ['1 MiB of links', htmlMail('<a href=http://a>'.repeat(mib / 18))],
  ['a long type', `Content-Type: text/html${' '.repeat(200_000)};\r\n\r\nx\r\n`],
])('%s takes less than the thread has', (_, mail) => {
  const bytes = Buffer.from(mail);
  const beganMs = process.cpuUsage();
  answerTo(bytes);
  const { user } = process.cpuUsage(beganMs);
  expect(user / 1_000).toBeLessThan(1_500);
});

test('10,000 links are counted', async () => {
  const mail = Buffer.from(htmlMail('<a href="https://a.example/x">a</a>'.repeat(10_000)));
  const shown = (await read(tracked(mail))).match(/mail\.example\/r\/w1/g);
  expect(shown).toHaveLength(10_000);
});

test.each<[string, number, string]>([
  ['200 links in base64', 200, 'base64'],
  ['201 links in base64', 201, 'base64'],
  ['2,000 links in base64', 2_000, 'base64'],
  ['2,000 links with escapes', 2_000, 'quoted-printable'],
])('a small mail of %s is changed at once only where its links are few', (_, count, encoding) => {
  const html = '<a href=http://a.b>'.repeat(count);
  const written =
    encoding === 'base64'
      ? Buffer.from(html).toString('base64')
      : html.replaceAll('href=', 'h=72ef=3D');
  const mail = Buffer.from(htmlMail(written, encoding));
  const request = { mail, counted: everything, writing, token, maxBytes };
  expect(mail.length).toBeLessThan(64 * 1024);
  expect(trackQuickly(request) === undefined).toBe(count > 200);
  expect('edits' in trackMail(request)).toBe(true);
});

test('a mail beyond 64 KiB is not changed at once', () => {
  const mail = Buffer.from(htmlMail('x'.repeat(66_000) + htmlPart));
  expect(trackQuickly({ mail, counted: everything, writing, token, maxBytes })).toBeUndefined();
});
