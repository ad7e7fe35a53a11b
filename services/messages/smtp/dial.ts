import { hostname } from 'node:os';
import type { Reply } from './outcome.ts';
import { type Target, Wire } from './wire.ts';

/** How a provider's server is reached. */
export type ServerSettings = {
  host: string;
  port: number;
  username: string;
  password: string;
  /** Implicit TLS on port 465, STARTTLS elsewhere. */
  useTls: boolean;
  ehloHostname: string;
  /** Certificates to trust instead of the usual ones. */
  ca?: string;
};

export type Resolve = (host: string) => Promise<{ address: string; family: 4 | 6 }>;

export type Timeouts = {
  connectMs: number;
  greetingMs: number;
  commandMs: number;
  finalMs: number;
};

/** Short for SMTP: a server that needs longer is tried again later, by another claim. */
export const defaultTimeouts: Timeouts = {
  connectMs: 10_000,
  greetingMs: 10_000,
  commandMs: 10_000,
  finalMs: 60_000,
};

export type Dialed = { wire: Wire; pipelining: boolean };

/** Why no mail can be handed over at all; the text names no address and repeats no server's words. */
export class OutageError extends Error {
  override name = 'OutageError';
}

/** Opens a session up to where MAIL may come. Throws an OutageError. */
export async function dial(
  settings: ServerSettings,
  resolve: Resolve,
  timeouts: Timeouts,
): Promise<Dialed> {
  const target = await resolveHost(settings, resolve);
  const implicitTls = settings.useTls && settings.port === 465;
  const talk = await open(target, settings, timeouts.connectMs);
  try {
    if (implicitTls) await talk.secure(settings, timeouts.greetingMs);
    const greeting = await talk.reply(timeouts.greetingMs, 'no greeting');
    expect(greeting, 220, 'the server refused the connection');
    let features = await hello(talk, settings, timeouts);
    if (settings.useTls && !implicitTls) {
      if (!features.has('STARTTLS')) throw new OutageError('the server offers no STARTTLS');
      expect(await talk.ask('STARTTLS', timeouts.commandMs), 220, 'STARTTLS was refused');
      await talk.secure(settings, timeouts.greetingMs);
      features = await hello(talk, settings, timeouts);
    }
    if (settings.username !== '') await authenticate(talk, settings, features, timeouts);
    return { wire: talk.wire, pipelining: features.has('PIPELINING') };
  } catch (error) {
    talk.wire.destroy('the session could not be opened');
    throw error;
  }
}

async function resolveHost({ host, port }: ServerSettings, resolve: Resolve): Promise<Target> {
  try {
    return { ...(await resolve(host)), port };
  } catch {
    throw new OutageError('the server name does not lead to an address that may be called');
  }
}

function expect(reply: Reply, code: number, reason: string): void {
  if (reply.code !== code) throw new OutageError(`${reason} (${reply.code})`);
}

async function hello(
  talk: Talk,
  { ehloHostname }: ServerSettings,
  { commandMs }: Timeouts,
): Promise<Map<string, string>> {
  const name = (ehloHostname || hostname()).replace(/[^A-Za-z0-9.:[\]-]/g, '') || 'localhost';
  const answer = await talk.ask(`EHLO ${name}`, commandMs);
  if (answer.code !== 250) {
    expect(await talk.ask(`HELO ${name}`, commandMs), 250, 'EHLO was refused');
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
    expect(answer, 235, 'authentication failed');
  } else if (offered.includes('LOGIN')) {
    expect(await talk.ask('AUTH LOGIN', commandMs), 334, 'authentication failed');
    expect(await talk.ask(base64(username), commandMs), 334, 'authentication failed');
    expect(await talk.ask(base64(password), commandMs), 235, 'authentication failed');
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

function open(target: Target, { useTls }: ServerSettings, connectMs: number): Promise<Talk> {
  const connected = Promise.withResolvers<void>();
  const wire = Wire.open(target, useTls, connected.resolve);
  const early: Reply[] = [];
  // The greeting may come in the same turn as the connection.
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
    secure: async ({ host, ca }, timeoutMs) => {
      const secured = Promise.withResolvers<void>();
      wire.upgrade({ host, ca }, secured.resolve);
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
