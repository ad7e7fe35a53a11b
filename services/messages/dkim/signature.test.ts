import { createPrivateKey, createPublicKey, hash, verify } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { cpuMs } from '../../../test/cpu-time.ts';
import { verified } from '../test/given-domain.ts';
import {
  canonicalFields,
  type PrivateKey,
  placesOf,
  relaxedFields,
  signatureFields,
  signText,
  simpleBody,
} from './signature.ts';

/** RFC 8463, appendix A. */
const ed25519 = createPrivateKey({
  key: Buffer.from(
    `302e020100300506032b657004220420${Buffer.from('nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=', 'base64').toString('hex')}`,
    'hex',
  ),
  format: 'der',
  type: 'pkcs8',
});
const rsa = createPrivateKey(`-----BEGIN RSA PRIVATE KEY-----
MIICXQIBAAKBgQDkHlOQoBTzWRiGs5V6NpP3idY6Wk08a5qhdR6wy5bdOKb2jLQi
Y/J16JYi0Qvx/byYzCNb3W91y3FutACDfzwQ/BC/e/8uBsCR+yz1Lxj+PL6lHvqM
KrM3rG4hstT5QjvHO9PzoxZyVYLzBfO2EeC3Ip3G+2kryOTIKT+l/K4w3QIDAQAB
AoGAH0cxOhFZDgzXWhDhnAJDw5s4roOXN4OhjiXa8W7Y3rhX3FJqmJSPuC8N9vQm
6SVbaLAE4SG5mLMueHlh4KXffEpuLEiNp9Ss3O4YfLiQpbRqE7Tm5SxKjvvQoZZe
zHorimOaChRL2it47iuWxzxSiRMv4c+j70GiWdxXnxe4UoECQQDzJB/0U58W7RZy
6enGVj2kWF732CoWFZWzi1FicudrBFoy63QwcowpoCazKtvZGMNlPWnC7x/6o8Gc
uSe0ga2xAkEA8C7PipPm1/1fTRQvj1o/dDmZp243044ZNyxjg+/OPN0oWCbXIGxy
WvmZbXriOWoSALJTjExEgraHEgnXssuk7QJBALl5ICsYMu6hMxO73gnfNayNgPxd
WFV6Z7ULnKyV7HSVYF0hgYOHjeYe9gaMtiJYoo0zGN+L3AAtNP9huqkWlzECQE1a
licIeVlo1e+qJ6Mgqr0Q7Aa7falZ448ccbSFYEPD6oFxiOl9Y9se9iYHZKKfIcst
o7DUw1/hz2Ck4N5JrgUCQQCyKveNvjzkkd8HjYs0SwM0fPjK16//5qDZ2UiDGnOe
uEzxBDAr518Z8VFbR41in3W4Y3yCDgQlLlcETrS+zYcL
-----END RSA PRIVATE KEY-----`);
const body = 'Hi.\r\n\r\nWe lost the game.  Are you hungry yet?\r\n\r\nJoe.\r\n';
const vectorHead = [
  'From: Joe SixPack <joe@football.example.com>',
  'To: Suzie Q <suzie@shopping.example.net>',
  'Subject: Is dinner ready?',
  'Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)',
  'Message-ID: <20030712040037.46341.5F8J@football.example.com>',
  '',
].join('\r\n');
const vectorNames = 'from to subject date message-id from subject date'.split(' ');
const vectors = {
  ed25519: {
    field:
      'v=1; a=ed25519-sha256; c=relaxed/relaxed; d=football.example.com; i=@football.example.com; q=dns/txt; s=brisbane; t=1528637909; h=from : to : subject : date : message-id : from : subject : date; bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=; b=',
    signature:
      '/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11BusFa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==',
    key: ed25519,
  },
  rsa: {
    field:
      'v=1; a=rsa-sha256; c=relaxed/relaxed; d=football.example.com; i=@football.example.com; q=dns/txt; s=test; t=1528637909; h=from : to : subject : date : message-id : from : subject : date; bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=; b=',
    signature:
      'F45dVWDfMbQDGHJFlXUNB2HKfbCeLRyhDXgFpEL8GwpsRe0IeIixNTe3DhCVlUrSjV4BwcVcOF6+FF3Zo9Rpo1tFOeS9mPYQTnGdaSGsgeefOsk2JzdA+L10TeYt9BgDfQNZtKdN1WO//KgIqXP7OdEFE4LjFYNcUxZQ4FADY+8=',
    key: rsa,
  },
};

test.each(['ed25519', 'rsa'] as const)('the signature by %s of RFC 8463 comes out', (algorithm) => {
  const { field, signature, key } = vectors[algorithm];
  const text = canonicalFields(placesOf(vectorNames), relaxedFields(vectorHead));
  const signed = signText(algorithm, key, `${text}dkim-signature:${field}`);
  expect(signed.toString('base64')).toBe(signature);
});

test('the digest of a simple body is that of RFC 6376', () => {
  const single = Buffer.from(body.replace('  ', ' '));
  const digest = (bytes: Buffer) => hash('sha256', simpleBody(bytes), 'base64');
  expect(digest(single)).toBe('2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=');
  expect(digest(Buffer.alloc(0))).toBe('frcCV1k9oG9oKj3dpUqdJg1PxRT2RSN/XKdLCPjaYaY=');
});

const signer: PrivateKey = { selector: 'e1', algorithm: 'ed25519', key: ed25519 };
const at = new Date('2026-11-26T12:00:00Z');

/** Signs a mail of which the header and the body are given. */
function signedMail(head: string, text = 'Hi\r\n', keys = [signer]): string {
  const mail = `${head}\r\n\r\n${text}`;
  return signatureFields(Buffer.from(mail, 'latin1'), { name: 'a.example', keys }, at) + mail;
}

/** A tag of the first signature. */
function tagOf(mail: string, name: string): string {
  const [field = ''] = mail.split(/\r\n(?![ \t])/);
  const tags = field
    .slice(field.indexOf(':') + 1)
    .replace(/\s/g, '')
    .split(';');
  return tags.find((tag) => tag.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
}

const records = (() => {
  const der = createPublicKey(ed25519).export({ format: 'der', type: 'spki' }).subarray(12);
  return new Map([['e1._domainkey.a.example', `v=DKIM1; k=ed25519; p=${der.toString('base64')}`]]);
})();

test('fields that a mail has are signed, From and those of lists once more', () => {
  const head = ['Message-ID: <1@a>', 'From: a@a.example', 'X-Own: 1', 'List-ID: <w.a.example>'];
  const mail = signedMail(head.join('\r\n'));
  expect(tagOf(mail, 'h')).toBe('From:From:Message-ID:List-ID:List-ID');
  expect(tagOf(mail, 't')).toBe('1795694400');
});

test('mails with other fields are signed by their own', () => {
  const namesIn = (head: string) => tagOf(signedMail(`From: a@a.example\r\n${head}`), 'h');
  expect(namesIn('To: b@b.example\r\nTo: c@c.example')).toBe('From:From:To:To');
  expect(namesIn('To: b@b.example\r\nCc: c@c.example')).toBe('From:From:To:Cc');
  const five = Array.from({ length: 5 }, () => 'Cc: b@b.example').join('\r\n');
  expect(namesIn(five)).toBe('From:From:Cc:Cc:Cc:Cc:Cc');
  expect(namesIn('To: b@b.example\r\nTo: c@c.example')).toBe('From:From:To:To');
});

test.each([
  ['another From before it', (mail: string) => `From: evil@a.example\r\n${mail}`],
  ['another From behind its own', (mail: string) => mail.replace('\r\nTo', '\r\nFrom: x@b\r\nTo')],
  ['another List-Unsubscribe', (mail: string) => `List-Unsubscribe: <https://x>\r\n${mail}`],
  ['another subject', (mail: string) => mail.replace('Subject: s', 'Subject: t')],
  ['another body', (mail: string) => mail.replace('text', 'test')],
  ['a line more', (mail: string) => `${mail}x\r\n`],
])('a mail with %s does not verify', async (_, change) => {
  const names = 'From: a@a.example\r\nTo: b@b.example\r\nSubject: s';
  const mail = signedMail(`${names}\r\nList-Unsubscribe: <https://a.example>`, 'text\r\n');
  expect(await verified(mail, records)).toEqual(['pass e1']);
  expect(change(mail)).not.toBe(mail);
  expect(await verified(change(mail), records)).not.toContain('pass e1');
});

test.each([
  ['folded and padded', 'From: a@a.example\r\nSubject: \r\n  a \t b\r\n\tc  '],
  ['a name with blanks', 'From : a@a.example\r\nsubject\t: x'],
  ['an empty value', 'From: a@a.example\r\nSubject:\r\nTo: '],
  ['lines of blanks', 'From: a@a.example\r\nSubject: a\r\n \r\n\t\r\n b'],
  ['two subjects', 'Subject: one\r\nFrom: a@a.example\r\nSubject: two'],
  ['two senders', 'From: a@a.example\r\nFrom: b@b.example'],
  ['bytes beyond ASCII', 'From: a@a.example\r\nSubject: \xa0\xe9\xa0'],
])('a header with %s verifies', async (_, head) => {
  expect(await verified(signedMail(head), records)).toEqual(['pass e1']);
});

test.each([
  ['nothing', ''],
  ['one empty line', '\r\n'],
  ['many empty lines', '\r\n\r\n\r\n'],
  ['no line end', 'text'],
  ['empty lines at its end', 'text\r\n\r\n\r\n'],
  ['blanks at the ends of lines', ' text \t\r\n \r\n'],
])('a body with %s verifies', async (_, text) => {
  expect(await verified(signedMail('From: a@a.example', text), records)).toEqual(['pass e1']);
});

test('signing is linear in a header of blanks', () => {
  const sign = (length: number) => () =>
    signedMail(`From: a@a.example\r\nSubject: ${' \t'.repeat(length)}x\r\n y`);
  expect(cpuMs(sign(100_000))).toBeLessThan(500);
});

test('a signature by the RSA key verifies with its public half', () => {
  const signed = signText('rsa', rsa, 'text');
  expect(verify('sha256', Buffer.from('text'), createPublicKey(rsa), signed)).toBe(true);
});
