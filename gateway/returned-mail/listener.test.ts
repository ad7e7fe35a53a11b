import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterEach, expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { createReturnPaths } from '#lib/keys/return-path.ts';
import { createLog } from '#lib/log.ts';
import { until } from '../../test/stack/until.ts';
import { selfSigned } from '../smtp/certificate.ts';
import { keyring } from '../testing.ts';
import { type ListenerOptions, listenForReturnedMail, type ReturnedMailTaker } from './listener.ts';

const domain = 'bounces.example.com';
const returnPaths = createReturnPaths(keyring, domain);
const mail = { workspaceId: 'w1', messageId: crypto.randomUUID() };
const returnPath = returnPaths.of(mail);
const forged = `b-${'a'.repeat(39)}@w1.${domain}`;
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function givenListener(
  taker: Partial<ReturnedMailTaker> = {},
  limits: ListenerOptions['limits'] = {},
) {
  const recorded: { returnPath: string; mail: Buffer }[] = [];
  const asked: string[] = [];
  const { port, stop } = await listenForReturnedMail({
    ...{ host: '127.0.0.1', port: 0, domain, limits, log: createLog('inbound', 'silent') },
    certificate: selfSigned(domain),
    taker: {
      async isKnown(address) {
        asked.push(address);
        return returnPaths.read(address) !== undefined;
      },
      async record(address, bytes) {
        recorded.push({ returnPath: address, mail: bytes });
        return true;
      },
      ...taker,
    },
    takeTest: async () => 'refused',
  });
  closing.unshift(stop);
  return { port, recorded, asked };
}

/** A client by hand: sends lines, and waits for replies. */
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
    await until(`${count} replies come`, async () => all().length >= taken + count);
    taken += count;
    return all().slice(taken - count, taken);
  };
  const ask = async (line: string) => {
    socket.write(`${line}\r\n`);
    return (await replies(1))[0];
  };
  return { socket, replies, ask, text: () => text };
}

async function greeted(port: number) {
  const client = await givenClient(port);
  expect((await client.replies(1))[0]).toMatch(/^220 /);
  expect(await client.ask('EHLO mx.example.net')).toMatch(/^250 /);
  return client;
}

test('a mail of a mail server comes by STARTTLS, and is answered once it is stored', async () => {
  const stored = Promise.withResolvers<boolean>();
  const { port } = await givenListener({ record: () => stored.promise });
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    tls: { rejectUnauthorized: false },
  });
  closing.unshift(() => transport.close());
  let isSent = false;
  const envelope = { from: '', to: returnPath };
  const sending = transport.sendMail({ envelope, subject: 'failure notice', text: 'x' });
  void sending.then(() => {
    isSent = true;
  });
  await new Promise((done) => setTimeout(done, 50));
  expect(isSent).toBe(false);
  stored.resolve(true);
  expect((await sending).response).toBe('250 2.0.0 stored');
});

test('the bytes of a mail come as they were sent, with the null sender and in any case', async () => {
  const { port, recorded } = await givenListener();
  const client = await greeted(port);
  await client.ask('MAIL FROM:<> BODY=8BITMIME SIZE=30');
  expect(await client.ask(`RCPT TO:<${returnPath.toUpperCase()}>`)).toMatch(/^250 /);
  await client.ask('DATA');
  expect(await client.ask('Subject: x\r\n\r\n..\u00fc\r\n.')).toBe('250 2.0.0 stored');
  expect(recorded).toEqual([
    {
      returnPath: expect.stringMatching(new RegExp(returnPath, 'i')),
      mail: Buffer.from('Subject: x\r\n\r\n.\u00fc\r\n'),
    },
  ]);
});

test('a return path at the host of a workspace’s own domain is taken, and another address there is not', async () => {
  const { port, asked, recorded } = await givenListener();
  const client = await greeted(port);
  await client.ask('MAIL FROM:<>');
  expect(await client.ask('RCPT TO:<ann@bounce.news.example>')).toBe('550 5.1.1 no such address');
  expect(asked).toEqual([]);
  // The host is xn--bcher-kva.example, which the server decodes.
  const own = returnPaths.of(mail, 'bounce.xn--bcher-kva.example');
  expect(await client.ask(`RCPT TO:<${own}>`)).toMatch(/^250 /);
  await client.ask('DATA');
  expect(await client.ask('Subject: x\r\n\r\n.')).toBe('250 2.0.0 stored');
  expect(returnPaths.read(recorded[0]?.returnPath ?? '')).toEqual(mail);
});

test('a whole session may come in one write', async () => {
  const { port, recorded } = await givenListener();
  const client = await givenClient(port);
  await client.replies(1);
  const one = `MAIL FROM:<>\r\nRCPT TO:<${returnPath}>\r\nDATA\r\n`;
  const codes = async (count: number) =>
    (await client.replies(count)).map((line) => line.slice(0, 3)).join(' ');
  client.socket.write(`EHLO x\r\n${one}`);
  expect(await codes(4)).toBe('250 250 250 354');
  client.socket.write(`one\r\n.\r\n${one}`);
  expect(await codes(4)).toBe('250 250 250 354');
  client.socket.write('two\r\n.\r\nQUIT\r\n');
  expect(await codes(2)).toBe('250 221');
  expect(recorded.map((each) => `${each.mail}`)).toEqual(['one\r\n', 'two\r\n']);
});

test.each([
  ['another domain', 'ann@example.com'],
  ['no code', `ann@w1.${domain}`],
  ['a host without a workspace', returnPath.replace('@w1.', '@')],
])('an address with %s is refused without a call', async (_, address) => {
  const { port, asked } = await givenListener();
  const client = await greeted(port);
  await client.ask('MAIL FROM:<>');
  expect(await client.ask(`RCPT TO:<${address}>`)).toBe('550 5.1.1 no such address');
  expect(await client.ask('DATA')).toMatch(/^503 /);
  expect(asked).toEqual([]);
});

test('a made-up code is refused, and nothing is stored', async () => {
  const { port, asked, recorded } = await givenListener();
  const client = await greeted(port);
  await client.ask('MAIL FROM:<>');
  expect(await client.ask(`RCPT TO:<${forged}>`)).toBe('550 5.1.1 no such address');
  expect(await client.ask('DATA')).toMatch(/^503 /);
  expect([asked, recorded]).toEqual([[forged], []]);
});

test('a second recipient is refused for now, and the mail goes to the first', async () => {
  const { port, recorded } = await givenListener();
  const client = await greeted(port);
  await client.ask('MAIL FROM:<>');
  await client.ask(`RCPT TO:<${returnPath}>`);
  const other = returnPaths.of({ ...mail, messageId: crypto.randomUUID() });
  expect(await client.ask(`RCPT TO:<${other}>`)).toMatch(/^452 /);
  await client.ask('DATA');
  expect(await client.ask('x\r\n.')).toMatch(/^250 /);
  expect(recorded.map((each) => each.returnPath)).toEqual([returnPath]);
});

test('a session that names wrong addresses again and again is ended', async () => {
  const { port } = await givenListener({}, { refusedMax: 3 });
  const client = await greeted(port);
  await client.ask('MAIL FROM:<>');
  for (let each = 0; each < 3; each += 1) {
    expect(await client.ask(`RCPT TO:<a${each}@example.com>`)).toMatch(/^550 /);
  }
  expect(await client.ask('RCPT TO:<a@example.com>')).toMatch(/^421 /);
  await ended(client.socket);
});

const ended = (socket: Socket) =>
  until('the connection is ended', async () => socket.destroyed || socket.readableEnded);

test.each([Code.Unavailable, Code.ResourceExhausted, Code.DeadlineExceeded, Code.Internal])(
  'while messages fails with code %s, the recipient and the mail are to come again',
  async (code) => {
    const fail = async () => {
      throw new ConnectError('no', code);
    };
    const unknown = await greeted((await givenListener({ isKnown: fail })).port);
    await unknown.ask('MAIL FROM:<>');
    expect(await unknown.ask(`RCPT TO:<${returnPath}>`)).toMatch(/^451 4\.3\.0 /);
    const unstored = await greeted((await givenListener({ record: fail })).port);
    await unstored.ask('MAIL FROM:<>');
    await unstored.ask(`RCPT TO:<${returnPath}>`);
    await unstored.ask('DATA');
    expect(await unstored.ask('x\r\n.')).toMatch(/^451 4\.3\.0 /);
  },
);

test('a mail about a message that is deleted is refused after its end', async () => {
  const client = await greeted((await givenListener({ record: async () => false })).port);
  await client.ask('MAIL FROM:<>');
  await client.ask(`RCPT TO:<${returnPath}>`);
  await client.ask('DATA');
  expect(await client.ask('x\r\n.')).toBe('550 5.1.1 no such address');
});

test('a large mail is kept by its first 64 KiB, and one that says more than 1 MiB is refused', async () => {
  const { port, recorded } = await givenListener();
  const client = await greeted(port);
  expect(client.text()).toMatch(/^250[- ]SIZE 1048576\r$/m);
  expect(await client.ask('MAIL FROM:<> SIZE=1048577')).toMatch(/^552 /);
  await client.ask('MAIL FROM:<>');
  await client.ask(`RCPT TO:<${returnPath}>`);
  await client.ask('DATA');
  const line = `${'x'.repeat(998)}\r\n`;
  expect(await client.ask(`${line.repeat(3_000)}.`)).toMatch(/^250 /);
  expect(recorded[0]?.mail).toEqual(Buffer.from(line.repeat(70)).subarray(0, 65_536));
});

test('the eleventh connection of an address is refused, and one more is taken after an end', async () => {
  const { port } = await givenListener();
  const clients = [];
  for (let each = 0; each < 10; each += 1) clients.push(await greeted(port));
  const eleventh = await givenClient(port);
  expect((await eleventh.replies(1))[0]).toMatch(/^421 /);
  await ended(eleventh.socket);
  await clients[0]?.ask('QUIT');
  clients[0]?.socket.end();
  await until('there is room', async () => {
    const next = await givenClient(port);
    const [greeting = ''] = await next.replies(1);
    next.socket.destroy();
    return greeting.startsWith('220');
  });
});

test('connections beyond all are refused', async () => {
  const { port } = await givenListener({}, { connectionsMax: 2 });
  await greeted(port);
  await greeted(port);
  expect((await (await givenClient(port)).replies(1))[0]).toMatch(/^421 /);
});

test('an idle session is ended, and so is one that is slow for ever', async () => {
  const idle = await greeted((await givenListener({}, { idleMs: 700 })).port);
  await ended(idle.socket);
  const { port, recorded } = await givenListener({}, { sessionMs: 1_500 });
  const slow = await greeted(port);
  await slow.ask('MAIL FROM:<>');
  await slow.ask(`RCPT TO:<${returnPath}>`);
  await slow.ask('DATA');
  const drip = setInterval(() => slow.socket.write('x'), 20);
  await ended(slow.socket);
  clearInterval(drip);
  expect(recorded).toEqual([]);
});

/** A session from the port of one that was just reset. Others may have taken the port first. */
async function fromPortOfReset(port: number): Promise<Socket> {
  for (;;) {
    const first = await greeted(port);
    const { localPort = 0 } = first.socket;
    first.socket.resetAndDestroy();
    const second = connect({ host: '127.0.0.1', port, localAddress: '127.0.0.1', localPort });
    closing.unshift(() => second.destroy());
    second.on('error', () => {});
    const isGreeted = once(second, 'data').then(
      () => true,
      () => false,
    );
    if (await isGreeted) return second.resume();
  }
}

test('a session from the port of one that was just reset is ended in time, too', async () => {
  const { port } = await givenListener({}, { sessionMs: 1_500 });
  const sessions = await Promise.all(Array.from({ length: 4 }, () => fromPortOfReset(port)));
  const drips = sessions.map((each) => setInterval(() => each.write('NOOP\r\n'), 50));
  const closedCount = () => sessions.filter(({ closed }) => closed).length;
  await until('all are ended', async () => closedCount() === 4).finally(() =>
    drips.forEach(clearInterval),
  );
  expect(closedCount()).toBe(4);
});

test('sessions that have ended leave no timer, with and without TLS', async () => {
  const { port } = await givenListener();
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  for (const isSecure of [false, true]) {
    const client = await greeted(port);
    if (isSecure) {
      await client.ask('STARTTLS');
      client.socket.removeAllListeners('data');
      const secure = connectTls({ socket: client.socket, rejectUnauthorized: false });
      await once(secure, 'secureConnect');
      secure.end('QUIT\r\n');
      await once(secure.resume(), 'close');
    } else {
      client.socket.end('QUIT\r\n');
      await ended(client.socket);
    }
  }
  await until('the timers are cleared', async () => timers() <= before, { withinMs: 10_000 });
});

test('nobody signs in, and a command without end is ended', async () => {
  const { port } = await givenListener();
  const client = await greeted(port);
  expect(client.text()).not.toContain('AUTH');
  expect(await client.ask('AUTH PLAIN AAAA')).toMatch(/^5/);
  client.socket.write('x'.repeat(100_000));
  await ended(client.socket);
});

test('the certificate that it makes is for its domain', async () => {
  const { port } = await givenListener();
  const client = await greeted(port);
  expect(await client.ask('STARTTLS')).toMatch(/^220 /);
  client.socket.removeAllListeners('data');
  const secure = connectTls({
    socket: client.socket,
    servername: domain,
    rejectUnauthorized: false,
  });
  await once(secure, 'secureConnect');
  expect(secure.getPeerCertificate()).toMatchObject({
    subject: { CN: domain },
    subjectaltname: `DNS:${domain}`,
  });
  expect(secure.getProtocol()).toBe('TLSv1.3');
  secure.destroy();
});
