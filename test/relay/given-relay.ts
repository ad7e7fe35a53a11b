import { once } from 'node:events';
import { connect } from 'node:net';
import { pino } from 'pino';
import { listenForRelay, type RelayOptions } from '../../gateway/relay/listener.ts';
import type { MailTaker } from '../../gateway/relay/mail-taker.ts';
import { selfSigned } from '../../gateway/smtp/certificate.ts';
import type { Given } from '../../services/messages/test/given.ts';
import { until } from '../stack/until.ts';
import type { TestStack } from '../stack.ts';

/** The password of the workspace `w1`. */
export const key = 'the-key';

/** The relay before a process of messages; `key` is the only key. */
export async function givenRelay(
  { relay }: Pick<Given, 'relay'>,
  {
    limits = {},
    taker = {},
    ...over
  }: Partial<Omit<RelayOptions, 'taker'>> & {
    taker?: Partial<MailTaker>;
  } = {},
) {
  /** Lines of the log. */
  const errors: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => void errors.push(line) });
  const listener = await listenForRelay({
    ...{ host: '127.0.0.1', ports: { smtp: 0, smtps: 0 }, hostname: 'relay.example' },
    ...{ certificate: selfSigned('relay.example'), allowsPlaintext: true, proxies: [], log },
    limits: { wrongPasswordMs: 1, ...limits },
    taker: {
      callerOf: async (password) =>
        password === key ? { key, subject: 'k1', workspaceId: 'w1' } : undefined,
      relay: async ({ workspaceId }, { recipients, bytes }) => {
        const request = { workspaceId, recipients: [...recipients], mail: bytes };
        return (await relay.relayMail(request)).messageIds;
      },
      ...taker,
    },
    ...over,
  });
  const { smtp = 0, smtps = 0 } = listener.ports;
  return { ...listener, port: smtp, portOfTls: smtps, errors };
}

/** A client by hand: writes bytes, and waits for replies. */
export async function givenClient(port: number) {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  socket.on('error', () => {});
  let [text, taken] = ['', 0];
  socket.on('data', (more) => {
    text += more;
  });
  /** The last line of each further reply. */
  const replies = async (count: number): Promise<string[]> => {
    const all = () => text.split('\r\n').filter((line) => /^\d{3} /.test(line));
    await until(`${count} replies come`, async () => all().length >= taken + count, {
      withinMs: 15_000,
    });
    taken += count;
    return all().slice(taken - count, taken);
  };
  const write = (bytes: string | Buffer) =>
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  const ask = async (line: string | Buffer) => {
    write(line);
    write('\r\n');
    return (await replies(1))[0] ?? '';
  };
  const ended = () =>
    until('the connection is ended', async () => socket.destroyed || socket.readableEnded, {
      withinMs: 15_000,
    });
  await once(socket, 'connect');
  return { socket, write, replies, ask, ended, text: () => text };
}

/** A client that has given its key. */
export async function givenSignedIn(port: number, password = key) {
  const client = await givenClient(port);
  await client.replies(1);
  await client.ask('EHLO client.example');
  const plain = Buffer.from(`\0any\0${password}`).toString('base64');
  const reply = await client.ask(`AUTH PLAIN ${plain}`);
  if (!reply.startsWith('235 ')) throw new Error(reply);
  return client;
}

type Client = Awaited<ReturnType<typeof givenClient>>;

/** The reply to a mail, given in the form that SMTP has on its way. */
export async function send(
  client: Client,
  { to, mail, params = '' }: { to: readonly string[]; mail: string | Buffer; params?: string },
): Promise<string> {
  await client.ask(`MAIL FROM:<x@sender.example>${params}`);
  for (const each of to) await client.ask(`RCPT TO:<${each}>`);
  await client.ask('DATA');
  client.write(mail);
  return client.ask('.');
}

/**
 * The first calls of a fresh stack load plans and fill caches, which takes seconds on a busy
 * machine: a mail is to come again then.
 */
export async function untilTaking({ settings }: Pick<TestStack, 'settings'>): Promise<void> {
  const { RELAY_URL = '', TOKEN = '' } = settings;
  const mail = 'From: hello@example.com\r\nSubject: First\r\n\r\nHello\r\n';
  await until(
    'the relay takes a mail',
    async () => {
      const client = await givenSignedIn(Number(new URL(RELAY_URL).port), TOKEN).catch(() => {});
      if (!client) return false;
      const reply = await send(client, { to: ['first@example.com'], mail }).catch(() => '');
      client.socket.destroy();
      return reply.startsWith('250 ');
    },
    { withinMs: 60_000 },
  );
}
