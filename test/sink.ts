import { closeSync, fsync, openSync, write } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { listen, startControl } from './sink-control.ts';
import {
  type Accept,
  type Behaviour,
  Conversation,
  defaultBehaviour,
} from './sink-conversation.ts';

/**
 * An SMTP server for tests, chaos runs and benchmarks that accepts mail at full speed, counts it by
 * recipient, and misbehaves as configured. `node test/sink.ts --port 2525 --control 2526` runs it
 * as a process;
 * `--bodies 100` keeps the last hundred complete mails.
 */

type Received = {
  count: number;
  messageIds: string[];
  /** When the first came, in Unix milliseconds. */
  atMs: number;
};

/** Message-IDs that are kept for each recipient, enough to recognize repeats. */
const messageIdsMax = 8;

export type Sink = {
  port: number;
  behaviour: Behaviour;
  /** By recipient, in lower case. */
  received: ReadonlyMap<string, Received>;
  total: () => number;
  duplicates: () => string[];
  connections: () => number;
  /** The largest number of open connections so far. */
  connectionsPeak: () => number;
  /** Of the first mail since the last reset, and of the last one; 0 before. */
  firstAtMs: () => number;
  receivedAtMs: () => number;
  /**
   * Complete mails to one recipient or to all, newest last; only the last few, and only with
   * `bodies`.
   */
  bodies: (recipient?: string) => string[];
  /** The commands of their envelopes. */
  envelopes: (recipient?: string) => (readonly string[])[];
  reset: () => void;
  close: () => Promise<void>;
};

export type SinkOptions = {
  port?: number;
  /** File with a line for each accepted message, which is on disk before its 250. */
  file?: string;
  /** The number of complete mails to keep. */
  bodiesMax?: number;
  behaviour?: Partial<Behaviour>;
};

export async function startSink(options: SinkOptions = {}): Promise<Sink> {
  const received = new Map<string, Received>();
  const kept: { recipient: string; body: string; envelope: readonly string[] }[] = [];
  const sockets = new Set<Socket>();
  const journal = options.file === undefined ? undefined : openJournal(options.file);
  const state = { total: 0, peak: 0, firstAtMs: 0, atMs: 0 };
  const behaviour: Behaviour = { ...defaultBehaviour, ...options.behaviour };
  const accept: Accept = ({ recipient, messageId, body, envelope }, done) => {
    const key = recipient.toLowerCase();
    const entry = received.get(key) ?? { count: 0, messageIds: [], atMs: Date.now() };
    entry.count += 1;
    if (entry.messageIds.length < messageIdsMax) entry.messageIds.push(messageId);
    received.set(key, entry);
    state.total += 1;
    state.atMs = Date.now();
    state.firstAtMs ||= state.atMs;
    if (options.bodiesMax) {
      kept.push({ recipient: key, body: body.toString('latin1'), envelope });
      if (kept.length > options.bodiesMax) kept.shift();
    }
    if (journal === undefined) done();
    else journal.append(`${state.atMs} ${key} ${messageId}\n`, done);
  };
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    state.peak = Math.max(state.peak, sockets.size);
    socket.on('close', () => sockets.delete(socket));
    new Conversation(socket, () => sink.behaviour, accept);
  });
  const keptFor = (recipient?: string) =>
    kept.filter((mail) => recipient === undefined || mail.recipient === recipient.toLowerCase());
  const sink: Sink = {
    port: await listen(server, options.port ?? 0),
    behaviour,
    received,
    total: () => state.total,
    duplicates: () => [...received].filter(([, { count }]) => count > 1).map(([email]) => email),
    connections: () => sockets.size,
    connectionsPeak: () => state.peak,
    firstAtMs: () => state.firstAtMs,
    receivedAtMs: () => state.atMs,
    bodies: (recipient) => keptFor(recipient).map(({ body }) => body),
    envelopes: (recipient) => keptFor(recipient).map(({ envelope }) => envelope),
    reset: () => {
      received.clear();
      kept.length = 0;
      Object.assign(state, { total: 0, peak: sockets.size, firstAtMs: 0, atMs: 0 });
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
      journal?.close();
    },
  };
  return sink;
}

/** Lines that arrive during a write share the next one: many messages, one fsync. */
function openJournal(file: string): {
  append: (line: string, done: () => void) => void;
  close: () => void;
} {
  const fd = openSync(file, 'a');
  let lines: string[] = [];
  let waiting: (() => void)[] = [];
  let isBusy = false;
  const flush = () => {
    if (isBusy || lines.length === 0) return;
    isBusy = true;
    const [text, answered] = [lines.join(''), waiting];
    lines = [];
    waiting = [];
    write(fd, text, () =>
      fsync(fd, () => {
        isBusy = false;
        for (const done of answered) done();
        flush();
      }),
    );
  };
  return {
    append: (line, done) => {
      lines.push(line);
      waiting.push(done);
      flush();
    },
    close: () => closeSync(fd),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      control: { type: 'string', default: '0' },
      file: { type: 'string' },
      behaviour: { type: 'string', default: '{}' },
      bodies: { type: 'string', default: '0' },
    },
  });
  const sink = await startSink({
    port: Number(values.port),
    file: values.file,
    bodiesMax: Number(values.bodies),
    behaviour: JSON.parse(values.behaviour),
  });
  const control = await startControl(sink, Number(values.control));
  process.stdout.write(`${JSON.stringify({ port: sink.port, control })}\n`);
  process.on('SIGTERM', () => process.exit(0));
}
