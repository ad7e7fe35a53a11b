import { afterEach, expect } from '@jest/globals';
import { type Sink, type SinkOptions, startSink } from '../../../test/sink.ts';
import { tokenHeader } from '../mime/headers.ts';
import { type MailParts, type MailText, staticText } from '../mime/mail.ts';
import type { SendOutcome } from '../providers/outcome.ts';
import type { Outgoing } from '../providers/outgoing.ts';
import type { Sender } from '../providers/provider.ts';
import { defaultTimeouts, type ServerSettings } from '../providers/smtp/dial.ts';
import { type PoolOptions, SmtpPool } from '../providers/smtp/pool.ts';
import { renderFailureInfo } from '../render/failure.ts';

export const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

export async function givenSink(
  behaviour: SinkOptions['behaviour'] = {},
  bodiesMax = 0,
): Promise<Sink> {
  const sink = await startSink({ behaviour, bodiesMax });
  closing.push(() => sink.close());
  return sink;
}

export function givenPool(
  port: number,
  over: Partial<ServerSettings> = {},
  connections = 2,
  options: Partial<PoolOptions> = {},
): SmtpPool {
  const settings = {
    host: '127.0.0.1',
    port,
    username: '',
    password: '',
    useTls: false,
    ehloHostname: 'me.example',
    ...over,
  };
  const resolve = async () => ({ address: '127.0.0.1', family: 4 as const });
  const pool = new SmtpPool({
    settings,
    resolve,
    connections,
    connectionsMax: connections,
    timeouts: defaultTimeouts,
    ...options,
  });
  closing.push(() => pool.close());
  return pool;
}

export type Given = {
  to: string;
  id?: string;
  copies?: readonly string[];
  from?: string;
  leaseMs?: number;
  signal?: AbortSignal;
  prepare?: Outgoing['prepare'];
  signature?: Outgoing['signature'];
  begin?: Outgoing['begin'];
};

/** A mail of which the text is given. */
export const mailOf = (text: MailText, headers: MailParts['headers'] = []): MailParts => ({
  headers,
  text,
  html: [],
  files: [],
});

/** Bytes that are sent as they are. */
export const asBytes = (encoded: Buffer) => ({ text: '', encoded });

const bodyOf = (to: string) =>
  mailOf(
    ['.hello\nüber ', staticText('static')],
    [tokenHeader('Message-ID', `<${to}-id@x>`), tokenHeader('To', to)],
  );

/** Sends one message to each and gives what became of them, in order. */
export function send(
  pool: Sender,
  recipients: (string | Given)[],
  options: { isUrgent?: boolean } = {},
): Promise<SendOutcome[]> {
  const never = new AbortController().signal;
  const results = recipients.map((recipient) => {
    const given = typeof recipient === 'string' ? { to: recipient } : recipient;
    const settled = Promise.withResolvers<SendOutcome>();
    let count = 0;
    const outgoing: Outgoing = {
      id: given.id ?? crypto.randomUUID(),
      from: given.from ?? 'me@sender.example',
      to: given.to,
      startsUntilMs: Date.now() + 30_000,
      held: { leaseUntilMs: Date.now() + (given.leaseMs ?? 30_000) },
      signal: given.signal ?? never,
      prepare: given.prepare ?? (() => bodyOf(given.to)),
      signature: given.signature,
      ...(given.begin && { begin: given.begin }),
      failureInfo: renderFailureInfo,
      settle: (outcome) => {
        count += 1;
        expect(count).toBe(1);
        settled.resolve(outcome);
      },
      copies: given.copies ?? [],
      refusedCopies: 0,
      lost: 0,
    };
    return { outgoing, outcome: settled.promise };
  });
  pool.send(
    results.map(({ outgoing }) => outgoing),
    options,
  );
  return Promise.all(results.map(({ outcome }) => outcome));
}

export const people = (count: number) =>
  Array.from({ length: count }, (_, index) => `p${index}@example.com`);
export const kinds = (outcomes: SendOutcome[]) => outcomes.map(({ kind }) => kind);
export const count = (outcomes: SendOutcome[], kind: SendOutcome['kind']) =>
  outcomes.filter((outcome) => outcome.kind === kind).length;
