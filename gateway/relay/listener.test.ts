import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterEach, expect, test } from '@jest/globals';
import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { createLog } from '#lib/log.ts';
import { until } from '../../test/stack/until.ts';
import { selfSigned } from '../smtp/certificate.ts';
import { listenForRelay, type RelayOptions } from './listener.ts';
import type { MailTaker, ReceivedMail } from './mail-taker.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const key = 'the-key';
const withinMs = 15_000;

type Over = Partial<Omit<RelayOptions, 'taker'>> & { taker?: Partial<MailTaker> };

async function givenRelay({ limits = {}, taker = {}, ...over }: Over = {}) {
  const mails: ReceivedMail[] = [];
  const listener = await listenForRelay({
    ...{ host: '127.0.0.1', ports: { smtp: 0, smtps: 0 }, hostname: 'relay.example' },
    ...{ certificate: selfSigned('relay.example'), allowsPlaintext: true, proxies: [] },
    log: createLog('relay', 'silent'),
    limits: { wrongPasswordMs: 1, ...limits },
    taker: {
      // Each workspace has the key that begins with its name.
      callerOf: async (given) =>
        given.endsWith(key)
          ? { key: given, subject: given, workspaceId: given.slice(0, -key.length) || 'w1' }
          : undefined,
      relay: async (_, mail) => {
        mails.push(mail);
        return mail.recipients.map((_, at) => `id-${at + 1}`);
      },
      ...taker,
    },
    ...over,
  });
  closing.unshift(listener.stop);
  return {
    ...listener,
    port: listener.ports.smtp ?? 0,
    portOfTls: listener.ports.smtps ?? 0,
    mails,
  };
}

/** A client by hand: writes bytes, and waits for replies. */
async function givenClient(port: number) {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  socket.on('error', () => {});
  closing.unshift(() => socket.destroy());
  let [text, taken] = ['', 0];
  socket.on('data', (more) => {
    text += more;
  });
  /** The last line of each further reply. */
  const replies = async (count: number): Promise<string[]> => {
    const all = () => text.split('\r\n').filter((line) => /^\d{3} /.test(line));
    await until(`${count} replies come`, async () => all().length >= taken + count, { withinMs });
    taken += count;
    return all().slice(taken - count, taken);
  };
  const write = (bytes: string) => socket.write(Buffer.from(bytes, 'latin1'));
  const ask = async (line: string) => {
    write(`${line}\r\n`);
    return (await replies(1))[0] ?? '';
  };
  const isEnded = () => socket.destroyed || socket.readableEnded;
  const ended = () => until('the connection is ended', async () => isEnded(), { withinMs });
  await once(socket, 'connect');
  return { socket, write, replies, ask, ended, isEnded, text: () => text };
}

async function greeted(port: number) {
  const client = await givenClient(port);
  expect((await client.replies(1))[0]).toBe('220 relay.example ESMTP Postrider');
  await client.ask('EHLO client.example');
  return client;
}

async function secured(client: Client) {
  expect(await client.ask('STARTTLS')).toMatch(/^220 /);
  const secure = connectTls({ socket: client.socket, rejectUnauthorized: false });
  secure.on('error', () => {}).setEncoding('latin1');
  await once(secure, 'secureConnect');
  return secure;
}

const authOf = (password: string) =>
  `AUTH PLAIN ${Buffer.from(`\0any\0${password}`).toString('base64')}`;

async function signedIn(port: number, password = key) {
  const client = await greeted(port);
  expect(await client.ask(authOf(password))).toBe('235 2.7.0 Authentication successful');
  return client;
}

type Client = Awaited<ReturnType<typeof givenClient>>;

async function send(client: Client, { mail = 'Subject: x\r\n\r\nhi', to = ['a@b.example'] } = {}) {
  await client.ask('MAIL FROM:<x@y.example>');
  for (const each of to) await client.ask(`RCPT TO:<${each}>`);
  expect(await client.ask('DATA')).toMatch(/^354 /);
  return client.ask(`${mail}\r\n.`);
}

test('EHLO names what clients may use, and AUTH only where TLS is or need not be', async () => {
  const { port } = await givenRelay();
  const client = await greeted(port);
  for (const extension of [
    'PIPELINING',
    '8BITMIME',
    'SMTPUTF8',
    'ENHANCEDSTATUSCODES',
    'STARTTLS',
  ]) {
    expect(client.text()).toMatch(new RegExp(`250.${extension}\r\n`));
  }
  expect(client.text()).toContain('AUTH PLAIN LOGIN\r\n');
  expect(client.text()).toMatch(/250.SIZE 26000000\r\n/);
  const strict = await greeted((await givenRelay({ allowsPlaintext: false })).port);
  expect(await strict.ask(authOf(key))).toMatch(/^538 /);
  expect(await strict.ask('MAIL FROM:<x@y.example>')).toMatch(/^530 /);
});

test('AUTH LOGIN takes the key as PLAIN does, with any user name', async () => {
  const { port } = await givenRelay();
  const client = await greeted(port);
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  expect(await client.ask('AUTH LOGIN')).toMatch(/^334 /);
  expect(await client.ask(base64('anybody'))).toMatch(/^334 /);
  expect(await client.ask(base64(key))).toMatch(/^235 /);
});

test('the bytes of a mail come as they were sent, below a line that names no client', async () => {
  const { port, mails } = await givenRelay();
  const client = await signedIn(port);
  const to = ['ann@example.com', 'bob@b\u00fccher.example'.normalize()];
  await client.ask('MAIL FROM:<> BODY=8BITMIME SIZE=30 SMTPUTF8');
  await client.ask(`RCPT TO:<${to[0]}>`);
  expect(await client.ask('RCPT TO:<bob@xn--bcher-kva.example>')).toBe('250 2.1.5 Accepted');
  await client.ask('DATA');
  expect(await client.ask('Subject: x\r\n\r\n..\u00fc\r\n.')).toBe('250 2.0.0 queued as id-1 id-2');
  const [mail] = mails;
  expect(mail?.recipients).toEqual(to);
  expect(mail?.bytes.toString('latin1')).toMatch(
    /^Received: by relay\.example \(Postrider\) with UTF8SMTPA id \w+\.1;\r\n\t\w{3}, [^\r]+ \+0000\r\nSubject: x\r\n\r\n\.\u00fc\r\n$/,
  );
});

test('250 comes once the messages are stored', async () => {
  const stored = Promise.withResolvers<string[]>();
  const { port } = await givenRelay({ taker: { relay: () => stored.promise } });
  const client = await signedIn(port);
  const sent = send(client);
  await until('the mail is under way', async () => client.text().includes('354 '));
  expect(client.text()).not.toContain('queued as');
  stored.resolve(['m1']);
  expect(await sent).toBe('250 2.0.0 queued as m1');
});

test('a whole session may come in one write, and several mails in one session', async () => {
  const { port, mails } = await givenRelay();
  const client = await givenClient(port);
  await client.replies(1);
  const one = (text: string) =>
    `MAIL FROM:<x@y.example>\r\nRCPT TO:<a@b.example>\r\nDATA\r\n${text}\r\n.\r\n`;
  client.write(`EHLO x\r\n${authOf(key)}\r\n${one('one')}${one('two')}QUIT\r\n`);
  const codes = (await client.replies(11)).map((line) => line.slice(0, 3)).join(' ');
  expect(codes).toBe('250 235 250 250 354 250 250 250 354 250 221');
  expect(mails.map(({ bytes }) => `${bytes}`.split('\r\n')[2])).toEqual(['one', 'two']);
});

test.each([
  [new ConnectError('x', Code.Unauthenticated), '535 5.7.8 the password must be a valid API key'],
  [refusal('PERMISSION_MISSING', 'no'), '550 5.7.1 no'],
  [invalidField('from', 'no'), '550 5.7.1 no'],
  [invalidField('mail.content.from.email', 'no'), '550 5.7.1 no'],
  [invalidField('recipients[0]', 'no'), '550 5.1.3 no'],
  [invalidField('mail', 'the mail is too large'), '552 5.3.4 the mail is too large'],
  [invalidField('mail', 'n\u00f6\r\n'), '554 5.6.0 n???'],
  [refusal('NOTIFICATION_NOT_FOUND', 'no'), '554 5.6.0 no'],
  [refusal('NO_EMAIL_PROVIDER', 'no'), '554 5.3.5 no'],
  [refusal('QUOTA_EXCEEDED', 'no'), '452 4.3.1 no'],
  [new ConnectError('slow', Code.ResourceExhausted), '451 4.7.1 slow'],
  [new ConnectError('x', Code.Unavailable), '451 4.3.0 try again later'],
  [new ConnectError('x', Code.DeadlineExceeded), '451 4.3.0 try again later'],
  [new Error('secret'), '451 4.3.0 try again later'],
])('a mail that fails with %p is answered %p', async (error, reply) => {
  const { port } = await givenRelay({ taker: { relay: () => Promise.reject(error) } });
  const client = await signedIn(port);
  expect(await send(client)).toBe(reply);
});

test('a key that cannot be checked now is answered 4xx, and is no wrong one', async () => {
  const away = () => Promise.reject(new ConnectError('x', Code.Unavailable));
  const { port } = await givenRelay({ taker: { callerOf: away } });
  const client = await greeted(port);
  for (let each = 0; each < 5; each += 1) {
    expect(await client.ask(authOf(key))).toBe('451 4.3.0 try again later');
  }
});

test('the third wrong key of a session ends it, each after a pause', async () => {
  const { port } = await givenRelay({ limits: { wrongPasswordMs: 100 } });
  const client = await greeted(port);
  const startedAtMs = performance.now();
  for (let each = 0; each < 2; each += 1)
    expect(await client.ask(authOf('x'))).toMatch(/^535 5\.7\.8/);
  expect(await client.ask(authOf('x'))).toMatch(/^421 4\.7\.0 /);
  expect(performance.now() - startedAtMs).toBeGreaterThan(290);
  await client.ended();
});

test('a session has one key', async () => {
  const { port } = await givenRelay();
  const client = await signedIn(port);
  expect(await client.ask(authOf(`other${key}`))).toMatch(/^503 /);
});

test('a connection beyond those of an address takes the place of one without a key', async () => {
  const { port } = await givenRelay({ limits: { connectionsOfAddressMax: 3 } });
  const first = await greeted(port);
  const others = [await signedIn(port), await signedIn(port)];
  const next = await signedIn(port);
  await first.ended();
  const refused = await givenClient(port);
  await refused.ended();
  expect([...others, next].some((client) => client.isEnded())).toBe(false);
});

test('a connection beyond those in all takes the place of one without a key', async () => {
  const { port } = await givenRelay({ limits: { connectionsMax: 2 } });
  const first = await greeted(port);
  const kept = await signedIn(port);
  await signedIn(port);
  await first.ended();
  expect(kept.isEnded()).toBe(false);
});

test('the connections of one port give way to those of the other', async () => {
  const { port, portOfTls } = await givenRelay({ limits: { connectionsMax: 2 } });
  const [first] = [await greeted(port), await greeted(port)];
  const secure = connectTls({ port: portOfTls, host: '127.0.0.1', rejectUnauthorized: false });
  const [greeting] = await once(
    secure.on('error', () => {}),
    'data',
  );
  expect(`${greeting}`).toMatch(/^220 /);
  await first.ended();
  secure.destroy();
});

test('connections that never say a word to the port of TLS give way to new ones', async () => {
  const { portOfTls } = await givenRelay({ limits: { connectionsOfAddressMax: 2 } });
  const silent = [];
  for (let count = 0; count < 4; count += 1) silent.push(await givenClient(portOfTls));
  await silent[0]?.ended();
  await silent[1]?.ended();
  const secure = connectTls({ port: portOfTls, host: '127.0.0.1', rejectUnauthorized: false });
  const [greeting] = await once(secure, 'data');
  expect(`${greeting}`).toMatch(/^220 /);
  secure.destroy();
});

test('a connection that ends behind STARTTLS leaves its place', async () => {
  const { port } = await givenRelay({ limits: { connectionsOfAddressMax: 2 } });
  for (let count = 0; count < 4; count += 1) {
    const client = await greeted(port);
    const secure = await secured(client);
    secure.write(`EHLO x\r\n${authOf(key)}\r\nQUIT\r\n`);
    let text = '';
    for await (const more of secure) text += more;
    expect(text).toMatch(/^235 .*\r\n221 /m);
  }
});

test('a second key behind STARTTLS takes the place of the first', async () => {
  const { port } = await givenRelay({ limits: { connectionsOfWorkspaceMax: 1 } });
  const client = await signedIn(port);
  const secure = await secured(client);
  secure.write(`EHLO x\r\n${authOf(`other${key}`)}\r\n`);
  let text = '';
  secure.on('data', (more) => {
    text += more;
  });
  await until('the key is checked', async () => /^(235|421) /m.test(text), { withinMs });
  expect(text).toMatch(/^235 /m);
  await signedIn(port);
  secure.destroy();
});

test('a workspace has its share of the connections, and room again after an end', async () => {
  const { port } = await givenRelay({ limits: { connectionsOfWorkspaceMax: 1 } });
  const first = await signedIn(port);
  const second = await greeted(port);
  expect(await second.ask(authOf(key))).toBe('421 4.7.0 too many connections');
  await signedIn(port, `other${key}`);
  first.socket.destroy();
  await until('there is room', async () => {
    const client = await greeted(port);
    const reply = await client.ask(authOf(key));
    client.socket.destroy();
    return reply.startsWith('235 ');
  });
});

test('a client without a key is ended in time, whatever bytes it sends', async () => {
  const { port } = await givenRelay({ limits: { greetingMs: 300 } });
  const client = await givenClient(port);
  await client.replies(1);
  const drip = setInterval(() => client.write('N'), 20);
  expect(await client.replies(1)).toEqual(['421 4.4.2 too slow']);
  clearInterval(drip);
  await client.ended();
});

test('a mail that comes byte by byte is ended in time, and nothing of it is kept', async () => {
  const { port, mails } = await givenRelay({ limits: { mailMs: 400, heldMaxBytes: 2_000 } });
  const client = await signedIn(port);
  await client.ask('MAIL FROM:<x@y.example>');
  await client.ask('RCPT TO:<a@b.example>');
  await client.ask('DATA');
  const drip = setInterval(() => client.write('a'), 20);
  await client.ended();
  clearInterval(drip);
  expect(mails).toEqual([]);
  expect(await send(await signedIn(port), { mail: 'a'.repeat(300) })).toMatch(/^250 /);
});

test('a client that pauses between commands is ended after the idle time', async () => {
  const { port } = await givenRelay({ limits: { idleMs: 200 } });
  const client = await signedIn(port);
  await client.ended();
  expect(client.text()).toMatch(/421 4\.4\.2 Timeout/);
});

test('a mail beyond the memory for all is refused for now, and others go on', async () => {
  const stored = Promise.withResolvers<string[]>();
  const { port } = await givenRelay({
    limits: { heldMaxBytes: 100_000 },
    taker: { relay: () => stored.promise },
  });
  const large = send(await signedIn(port), { mail: 'a'.repeat(24_000) });
  const client = await signedIn(port);
  await until('the first is held', async () => {
    const reply = await send(client, { mail: 'a'.repeat(24_000) });
    return reply === '452 4.3.1 too many mails are under way, try again later';
  });
  const other = send(await signedIn(port, `other${key}`), { mail: 'hi' });
  stored.resolve(['m1']);
  expect(await Promise.all([large, other])).toEqual([
    '250 2.0.0 queued as m1',
    '250 2.0.0 queued as m1',
  ]);
});

test('a mail whose size is known has its room from the start, and those beyond it come again', async () => {
  const { port } = await givenRelay({ limits: { heldMaxBytes: 100_000 } });
  const begun = async () => {
    const client = await signedIn(port);
    const reply = await client.ask('MAIL FROM:<x@y.example> SIZE=20000');
    if (!reply.startsWith('250 ')) return { client, reply };
    await client.ask('RCPT TO:<a@b.example>');
    return { client, reply: await client.ask('DATA') };
  };
  const first = await begun();
  first.client.write('a'.repeat(10_000));
  expect((await begun()).reply).toBe('452 4.3.1 too many mails are under way, try again later');
  expect(await first.client.ask(`${'a'.repeat(10_000)}\r\n.`)).toMatch(/^250 /);
  const second = await begun();
  expect(await second.client.ask(`${'a'.repeat(20_000)}\r\n.`)).toMatch(/^250 /);
});

test('a mail that begins with a space is refused: it would go on the line of the relay', async () => {
  const { port, mails } = await givenRelay();
  const client = await signedIn(port);
  for (const begin of [' by eve.example', '\tby eve.example']) {
    expect(await send(client, { mail: `${begin}\r\nSubject: x\r\n\r\nhi` })).toBe(
      '554 5.6.0 the mail begins with a space',
    );
  }
  expect(mails).toEqual([]);
});

test('a mail in too many pieces ends its session, and one in many comes whole', async () => {
  const { port, mails } = await givenRelay({ limits: { piecesMax: 5_000 } });
  const client = await signedIn(port);
  expect(await send(client, { mail: `x${'\r\n..y'.repeat(2_000)}` })).toMatch(/^250 /);
  expect(`${mails[0]?.bytes}`.split('\r\n.y')).toHaveLength(2_001);
  await client.ask('MAIL FROM:<x@y.example>');
  await client.ask('RCPT TO:<a@b.example>');
  await client.ask('DATA');
  client.write(`x${'\r\n..y'.repeat(10_000)}`);
  expect(await client.replies(1)).toEqual(['554 5.6.0 too many lines begin with a dot']);
  await client.ended();
  expect(await send(await signedIn(port))).toMatch(/^250 /);
});

test('a mail that is too large is 552, by what MAIL says and by what comes', async () => {
  const { port, mails } = await givenRelay({ limits: { mailMaxBytes: 10_000 } });
  const client = await signedIn(port);
  expect(await client.ask('MAIL FROM:<x@y.example> SIZE=10001')).toMatch(/^552 5\.3\.4 /);
  expect(await send(client, { mail: 'a'.repeat(30_000) })).toBe(
    '552 5.3.4 a mail has at most 10000 bytes',
  );
  expect(mails).toEqual([]);
  expect(await send(client)).toMatch(/^250 /);
});

test('recipients beyond 50, or beyond the bytes of all, come by another transaction', async () => {
  const { port } = await givenRelay({ limits: { recipientsMax: 3, copiesMaxBytes: 100 } });
  const client = await signedIn(port);
  const rcpt = (at: number) => client.ask(`RCPT TO:<a${at}@b.example>`);
  await client.ask('MAIL FROM:<x@y.example>');
  for (const at of [1, 2, 3]) expect(await rcpt(at)).toMatch(/^250 /);
  expect(await rcpt(4)).toMatch(/^452 4\.5\.3 /);
  await client.ask('RSET');
  await client.ask('MAIL FROM:<x@y.example> SIZE=60');
  expect(await rcpt(1)).toMatch(/^250 /);
  expect(await rcpt(2)).toMatch(/^452 4\.5\.3 /);
});

test('a session that names wrong recipients again and again is ended', async () => {
  const { port } = await givenRelay({ limits: { refusedMax: 2 } });
  const client = await signedIn(port);
  await client.ask('MAIL FROM:<x@y.example> SMTPUTF8');
  expect(await client.ask('RCPT TO:<\u00c3\u00bc@b.example>')).toMatch(/^550 5\.1\.3 .*only ASCII/);
  expect(await client.ask('RCPT TO:<a@b>')).toMatch(/^550 5\.1\.3 /);
  expect(await client.ask('RCPT TO:<a@b>')).toMatch(/^421 4\.7\.0 /);
  await client.ended();
});

test.each([
  ['unknown commands', 'FOO\r\n'],
  ['commands without a key', 'NOOP\r\n'],
  ['a command without an end', 'a'.repeat(20_000)],
  ['a request of HTTP', 'GET / HTTP/1.1\r\n'],
  ['EHLO with a line break in its name', 'EHLO a\rb\r\n'],
])('a flood of %s ends the session, and others are served', async (_, bytes) => {
  const { port } = await givenRelay();
  const client = await givenClient(port);
  await client.replies(1);
  client.write(bytes.repeat(1_000));
  await client.ended();
  expect(client.text().length).toBeLessThan(10_000);
  expect(await send(await signedIn(port))).toMatch(/^250 /);
});

test('XCLIENT, XFORWARD and VRFY are none of its commands', async () => {
  const { port } = await givenRelay();
  const client = await signedIn(port);
  for (const command of ['XCLIENT ADDR=1.2.3.4', 'XFORWARD ADDR=1.2.3.4', 'VRFY ann']) {
    expect(await client.ask(command)).toMatch(/^500 /);
  }
});

test('an end that stands behind a bare LF ends no mail', async () => {
  const { port, mails } = await givenRelay();
  const client = await signedIn(port);
  const smuggled = 'MAIL FROM:<x@y.example>\r\nRCPT TO:<eve@b.example>\r\nDATA\r\nhi';
  expect(await send(client, { mail: `one\n.\n${smuggled}\n.\r\n${smuggled}` })).toMatch(/^250 /);
  expect(mails).toHaveLength(1);
  expect(`${mails[0]?.bytes}`).toContain('eve@b.example');
});

test('commands in clear behind STARTTLS are dropped', async () => {
  const { port, mails } = await givenRelay({ allowsPlaintext: false });
  const client = await greeted(port);
  client.write(`STARTTLS\r\n${authOf(key)}\r\n`);
  expect((await client.replies(1))[0]).toMatch(/^220 /);
  const secure = connectTls({ socket: client.socket, rejectUnauthorized: false });
  secure.on('error', () => {});
  await Promise.race([once(secure, 'secureConnect'), once(secure, 'close')]);
  expect(client.text()).not.toContain('235');
  expect(mails).toEqual([]);
  secure.destroy();
});

const proxies = ['127.0.0.0/8'];
const headers = {
  1: Buffer.from('PROXY TCP4 203.0.113.7 198.51.100.1 5000 587\r\n'),
  2: Buffer.from('0d0a0d0a000d0a515549540a2111000fcb007107c63364011388024b040000', 'hex'),
};

test.each([1, 2] as const)(
  'the address of a client behind a proxy is that of the header, version %p',
  async (version) => {
    const { port, mails } = await givenRelay({ proxies });
    const client = await givenClient(port);
    client.socket.write(headers[version]);
    await client.replies(1);
    await client.ask('EHLO x');
    await client.ask(authOf(key));
    expect(await send(client)).toMatch(/^250 /);
    expect(mails[0]?.address).toBe('203.0.113.7');
  },
);

test.each([1, 2] as const)(
  'a header of version %p may be cut at each byte, before TLS too',
  async (version) => {
    const callers: string[] = [];
    const { port, portOfTls } = await givenRelay({
      proxies,
      taker: {
        callerOf: async (_, address) => {
          callers.push(address);
          return { key, subject: 'k', workspaceId: 'w1' };
        },
      },
      limits: { connectionsOfAddressMax: 1_000 },
    });
    const header = headers[version];
    const pause = () => new Promise((done) => setTimeout(done, 2));
    const cut = Array.from(header, async (_, at) => {
      const client = await givenClient(at % 2 === 0 ? port : portOfTls);
      client.socket.setNoDelay().write(header.subarray(0, at));
      await pause();
      client.socket.write(header.subarray(at));
      if (at % 2 === 0) {
        expect(await client.replies(1)).toEqual(['220 relay.example ESMTP Postrider']);
        await client.ask('EHLO x');
        expect(await client.ask(authOf(key))).toMatch(/^235 /);
        return;
      }
      const secure = connectTls({ socket: client.socket, rejectUnauthorized: false });
      secure.on('error', () => {}).write(`EHLO x\r\n${authOf(key)}\r\n`);
      let text = '';
      secure.on('data', (more) => {
        text += more;
      });
      await until('the key is taken', async () => /^235 /m.test(text), { withinMs });
      secure.destroy();
    });
    await Promise.all(cut);
    expect(callers).toEqual(Array.from(header, () => '203.0.113.7'));
  },
);

test('all that a client sends behind its header in one write is read', async () => {
  const { port, mails } = await givenRelay({ proxies });
  const client = await givenClient(port);
  const mail = 'MAIL FROM:<x@y.example>\r\nRCPT TO:<a@b.example>\r\nDATA\r\none\r\n.\r\n';
  client.socket.write(
    Buffer.concat([headers[2], Buffer.from(`EHLO x\r\n${authOf(key)}\r\n${mail}QUIT\r\n`)]),
  );
  const codes = (await client.replies(8)).map((line) => line.slice(0, 3)).join(' ');
  expect(codes).toBe('220 250 235 250 250 354 250 221');
  expect(mails).toHaveLength(1);
});

test('a connection of the load balancer itself is greeted, by either version', async () => {
  const { port } = await givenRelay({ proxies });
  const local = Buffer.from('0d0a0d0a000d0a515549540a20000000', 'hex');
  for (const header of [local, Buffer.from('PROXY UNKNOWN\r\n')]) {
    const client = await givenClient(port);
    client.socket.write(header);
    expect(await client.replies(1)).toEqual(['220 relay.example ESMTP Postrider']);
  }
});

test.each([
  ['no header', 'EHLO x\r\n'],
  ['a wrong line', 'PROXY TCP4 x y 1 2\r\n'],
  ['wrong bytes', headers[2].toString('latin1').replace('!', '1')],
  ['a line that never ends', 'PROXY UNKNOWN '.padEnd(200, 'a')],
])('a connection of a proxy with %s ends at once, without a word', async (_, bytes) => {
  const { port, portOfTls } = await givenRelay({ proxies, limits: { arrivalMs: 60_000 } });
  for (const each of [port, portOfTls]) {
    const client = await givenClient(each);
    client.write(bytes);
    await client.ended();
    expect(client.text()).toBe('');
  }
});

test.each([
  ['a line', headers[1]],
  ['bytes', headers[2]],
])(
  'a header of %s that does not come to its end ends the connection in time',
  async (_, header) => {
    const { port, portOfTls } = await givenRelay({ proxies, limits: { arrivalMs: 300 } });
    for (const each of [port, portOfTls]) {
      const client = await givenClient(each);
      let at = 0;
      const drip = setInterval(() => {
        client.socket.write(header.subarray(at, at + 1));
        at += 1;
      }, 50);
      await client.ended();
      clearInterval(drip);
      const half = await givenClient(each);
      half.socket.end(header.subarray(0, 10));
      await half.ended();
    }
  },
);

test.each([1, 2] as const)('a header of version %p from others is no command', async (version) => {
  const { port, portOfTls } = await givenRelay({ proxies: ['192.0.2.0/24'] });
  const client = await givenClient(port);
  await client.replies(1);
  client.socket.write(headers[version]);
  expect((await client.replies(1))[0]).toMatch(/^500 /);
  const secure = await givenClient(portOfTls);
  secure.socket.write(headers[version]);
  await secure.ended();
});

test('clients behind a proxy have a share each', async () => {
  const { port } = await givenRelay({ proxies, limits: { connectionsOfAddressMax: 2 } });
  const from = async (address: string) => {
    const client = await givenClient(port);
    client.write(`PROXY TCP4 ${address} 198.51.100.1 5000 587\r\n`);
    return { client, reply: (await client.replies(1))[0] };
  };
  const first = await from('203.0.113.7');
  expect((await from('203.0.113.7')).reply).toMatch(/^220 /);
  expect((await from('203.0.113.7')).reply).toBe('421 4.7.0 too many connections');
  expect((await from('203.0.113.8')).reply).toMatch(/^220 /);
  first.client.socket.destroy();
  await until('there is room', async () =>
    ((await from('203.0.113.7')).reply ?? '').startsWith('220 '),
  );
});

test('a new certificate is seen by new connections', async () => {
  const { portOfTls, useCertificate } = await givenRelay();
  const seen = async () => {
    const socket = connectTls({ port: portOfTls, host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return subject.CN;
  };
  expect(await seen()).toBe('relay.example');
  useCertificate(selfSigned('new.example'));
  expect(await seen()).toBe('new.example');
});

test('a stop ends idle sessions, and one with a mail after its reply', async () => {
  const stored = Promise.withResolvers<string[]>();
  const { port, stop } = await givenRelay({ taker: { relay: () => stored.promise } });
  const [idle, busy] = [await signedIn(port), await signedIn(port)];
  const sent = send(busy);
  await until('the mail is under way', async () => busy.text().includes('354 '));
  const stopped = stop();
  expect(await idle.replies(1)).toEqual(['421 4.3.2 the server is shutting down']);
  stored.resolve(['m1']);
  expect(await sent).toBe('250 2.0.0 queued as m1');
  expect(await busy.replies(1)).toEqual(['421 4.3.2 the server is shutting down']);
  await stopped;
});
