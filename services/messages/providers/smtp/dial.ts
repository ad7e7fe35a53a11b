import { hostname } from 'node:os';
import { isOurs, reasonOf } from '#lib/outside/failure.ts';
import type { SenderHost } from '../provider.ts';
import { outageInfo, type Reply } from './outcome.ts';
import { type SmtpTarget, Wire } from './wire.ts';

/** How a provider's server is reached. */
export type ServerSettings = {
  host: string;
  port: number;
  username: string;
  password: string;
  /** Implicit TLS on port 465, STARTTLS elsewhere, and a valid certificate. */
  useTls: boolean;
  ehloHostname: string;
  /** Certificates to trust instead of the usual ones. */
  ca?: string;
};

export type Timeouts = {
  connectMs: number;
  greetingMs: number;
  commandMs: number;
  finalMs: number;
};

/**
 * Short for SMTP before a message is sent: a slower server is tried again later. The answer to a
 * message may take the ten minutes of RFC 5321, 4.5.3.2.6: a message that is given up earlier may
 * have been taken, and would arrive twice.
 */
export const defaultTimeouts: Timeouts = {
  connectMs: 10_000,
  greetingMs: 10_000,
  commandMs: 10_000,
  finalMs: 10 * 60_000,
};

export type Dialed = { wire: Wire; features: ServerFeatures };

/** Extensions that the server has. */
export type ServerFeatures = {
  pipelining: boolean;
  /** The parameters of delivery status notifications (RFC 3461). */
  dsn: boolean;
  /** Mails that are not ASCII (RFC 6152), and such headers (RFC 6531). */
  eightBit: boolean;
  utf8: boolean;
};

/** The provider takes no mail at all; the text names no address. */
export class OutageError extends Error {
  override name = 'OutageError';
}

/** Opens a session up to where MAIL may come. Throws an OutageError. */
export async function dial(
  settings: ServerSettings,
  resolve: SenderHost['resolve'],
  timeouts: Timeouts,
): Promise<Dialed> {
  const target = await resolveHost(settings, resolve);
  const implicitTls = settings.useTls && settings.port === 465;
  const mayUpgrade = settings.useTls || settings.username !== '';
  const talk = await open(target, mayUpgrade, timeouts.connectMs);
  try {
    if (implicitTls) await talk.secure(settings, timeouts.greetingMs);
    const greeting = await talk.reply(timeouts.greetingMs, 'no greeting');
    expect(greeting, 220, 'the connection');
    let features = await hello(talk, settings, timeouts);
    if (mayUpgrade && !implicitTls && (await startTls(talk, settings, { features, timeouts }))) {
      features = await hello(talk, settings, timeouts);
    }
    if (settings.username !== '') await authenticate(talk, settings, features, timeouts);
    return {
      wire: talk.wire,
      features: {
        pipelining: features.has('PIPELINING'),
        dsn: features.has('DSN'),
        eightBit: features.has('8BITMIME'),
        utf8: features.has('SMTPUTF8'),
      },
    };
  } catch (error) {
    talk.wire.destroy('the session could not be opened');
    throw error;
  }
}

async function resolveHost(
  { host, port }: ServerSettings,
  resolve: SenderHost['resolve'],
): Promise<SmtpTarget> {
  try {
    return { ...(await resolve(host)), port };
  } catch (error) {
    if (isOurs(error)) throw new OutageError(reasonOf(error));
    throw new OutageError('the server name does not lead to an address that may be called');
  }
}

function expect(reply: Reply, code: number, command: string): void {
  if (reply.code !== code) throw new OutageError(outageInfo(command, reply));
}

/**
 * Whether the session is encrypted now. Where TLS is optional, a server that offers it still gets
 * no password in clear; its certificate is not verified then, because an untrusted one is better
 * than none. A handshake that fails is an outage all the same: going on in clear would hand the
 * password to an attacker who broke it.
 */
async function startTls(
  talk: Talk,
  settings: ServerSettings,
  { features, timeouts }: { features: Map<string, string>; timeouts: Timeouts },
): Promise<boolean> {
  if (!features.has('STARTTLS')) {
    if (settings.useTls) throw new OutageError('the server offers no STARTTLS');
    return false;
  }
  const answer = await talk.ask('STARTTLS', timeouts.commandMs);
  if (answer.code !== 220 && !settings.useTls) return false;
  expect(answer, 220, 'STARTTLS');
  await talk.secure(settings, timeouts.greetingMs);
  return true;
}

async function hello(
  talk: Talk,
  { ehloHostname }: ServerSettings,
  { commandMs }: Timeouts,
): Promise<Map<string, string>> {
  const name = (ehloHostname || hostname()).replace(/[^A-Za-z0-9.:[\]-]/g, '') || 'localhost';
  const answer = await talk.ask(`EHLO ${name}`, commandMs);
  if (answer.code !== 250) {
    expect(await talk.ask(`HELO ${name}`, commandMs), 250, 'EHLO');
    return new Map();
  }
  const lines = answer.text.split('\n').slice(1);
  return new Map(
    lines.map((line) => [line.split(' ')[0]?.toUpperCase() ?? '', line.toUpperCase()]),
  );
}

async function authenticate(
  talk: Talk,
  { username, password }: ServerSettings,
  features: Map<string, string>,
  { commandMs }: Timeouts,
): Promise<void> {
  const offered = (features.get('AUTH') ?? '').split(/[ =]/);
  const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64');
  if (offered.includes('PLAIN')) {
    const answer = await talk.ask(`AUTH PLAIN ${base64(`\0${username}\0${password}`)}`, commandMs);
    expect(answer, 235, 'AUTH');
  } else if (offered.includes('LOGIN')) {
    expect(await talk.ask('AUTH LOGIN', commandMs), 334, 'AUTH');
    expect(await talk.ask(base64(username), commandMs), 334, 'AUTH');
    expect(await talk.ask(base64(password), commandMs), 235, 'AUTH');
  } else {
    throw new OutageError('the server offers no authentication that is supported');
  }
}

/** One command, one answer, as a session begins. */
type Talk = {
  wire: Wire;
  reply(timeoutMs: number, reason: string): Promise<Reply>;
  ask(command: string, timeoutMs: number): Promise<Reply>;
  secure(settings: ServerSettings, timeoutMs: number): Promise<void>;
};

function open(target: SmtpTarget, mayUpgrade: boolean, connectMs: number): Promise<Talk> {
  const connected = Promise.withResolvers<void>();
  const wire = Wire.open(target, mayUpgrade, connected.resolve);
  const early: Reply[] = [];
  // The greeting may arrive in the same turn of the event loop as the connection.
  wire.onReply = (reply) => early.push(reply);
  const talk: Talk = {
    wire,
    reply: (timeoutMs, reason) => {
      const first = early.shift();
      return first === undefined ? waitFor(wire, timeoutMs, reason) : Promise.resolve(first);
    },
    ask: (command, timeoutMs) => {
      wire.write(`${command}\r\n`);
      return waitFor(wire, timeoutMs, 'no answer');
    },
    secure: async ({ host, ca, useTls: isVerified }, timeoutMs) => {
      const secured = Promise.withResolvers<void>();
      wire.upgrade({ host, ca, isVerified }, secured.resolve);
      wire.onReply = (reply) => early.push(reply);
      await waitUntil(wire, secured.promise, timeoutMs, 'the TLS handshake took too long');
    },
  };
  return waitUntil(wire, connected.promise, connectMs, 'connecting took too long').then(() => talk);
}

function waitFor(wire: Wire, timeoutMs: number, reason: string): Promise<Reply> {
  const answered = Promise.withResolvers<Reply>();
  wire.onReply = answered.resolve;
  return waitUntil(wire, answered.promise, timeoutMs, reason);
}

/** Settles with the promise, or fails when the connection closes or the time is over. */
async function waitUntil<T>(
  wire: Wire,
  promise: Promise<T>,
  timeoutMs: number,
  reason: string,
): Promise<T> {
  if (wire.closed !== undefined) throw new OutageError(wire.closed);
  const failed = Promise.withResolvers<never>();
  wire.onClose = (why) => failed.reject(new OutageError(why));
  const timer = setTimeout(() => wire.destroy(reason), timeoutMs);
  try {
    return await Promise.race([promise, failed.promise]);
  } finally {
    clearTimeout(timer);
  }
}
