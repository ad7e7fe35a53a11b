import { lookup } from 'node:dns/promises';
import { connect as connectSocket, isIP, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import { passOverInterimResponses } from './interim-responses.ts';

/** A call out that is not allowed, or that went wrong; its text contains no address. */
export class EgressError extends Error {
  override name = 'EgressError';
}

export type Target = { address: string; family: 4 | 6 };

/**
 * All connections to hosts chosen by tenants. Names are resolved once, and the address that is
 * connected to is checked: private, loopback, link-local and reserved ones, and those of cloud services, are refused unless
 * an operator has allowed their range.
 */
export type Egress = {
  /** Resolves a host to an address that may be called. */
  resolve(host: string): Promise<Target>;
  /** Whether the host is a literal address in a range that an operator has allowed. */
  opens(host: string): boolean;
  /** Opens a TCP connection to a resolved and checked address. */
  connect(options: { host: string; port: number; timeoutMs: number }): Promise<Socket>;
  /**
   * Connections for callers that limit them and read answers on their own: no call waits for a connection, and no
   * answer has a time limit. HTTP/1.1 only, since the first call of a host would hold up others until its protocol is known.
   */
  readonly unlimited: Dispatcher;
  /** Makes one HTTP call; redirects are failures, time and size are bounded. */
  call(options: EgressCall): Promise<EgressAnswer>;
  close(): Promise<void>;
};

export type EgressCall = {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string;
  timeoutMs: number;
  sizeMaxBytes: number;
  /** Ends the call when it is aborted. */
  signal?: AbortSignal;
};

export type EgressAnswer = {
  status: number;
  headers: Record<string, unknown>;
  body: Buffer;
  /** Whether the body was longer than asked for; the rest was not read. */
  truncated: boolean;
};

const resolveTimeoutMs = 5_000;

/** All addresses of a name by the resolver of this machine. */
type Lookup = (name: string) => Promise<Target[]>;

/** `allow` lists ranges in CIDR notation that may be called although they are not public. */
export function createEgress(allow: readonly string[], lookUp: Lookup = lookUpAll): Egress {
  const opened = allow.map((range) => ipaddr.parseCIDR(range));
  const resolve = (host: string) => resolveChecked(host, opened, lookUp);
  const connect = createConnector(resolve);
  const agent = new Agent({ connections: 50, connect });
  const unlimited = new Agent({
    connect: createConnector(resolve, { allowH2: false }),
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    resolve,
    opens: (host) => isIP(unbracketed(host)) !== 0 && isOpened(unbracketed(host), opened),
    connect: async (options) => openSocket(await resolve(options.host), options),
    unlimited,
    call: (options) => callChecked(agent, options),
    close: async () => {
      await Promise.all([agent.close(), unlimited.close()]);
    },
  };
}

type Ranges = readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];

function mayCall(address: string, opened: Ranges): boolean {
  if (isOpened(address, opened)) return true;
  // Every range but `unicast` is reserved; 6to4, Teredo and NAT64 have names of their own.
  return ipaddr.process(address).range() === 'unicast' && !isOpened(address, metadata);
}

/** Formally public, but Azure's service for the machine itself. Other clouds use reserved ranges for theirs. */
const metadata: Ranges = [ipaddr.parseCIDR('168.63.129.16/32')];

function isOpened(address: string, opened: Ranges): boolean {
  const parsed = ipaddr.process(address);
  return opened.some((range) => parsed.kind() === range[0].kind() && parsed.match(range));
}

/** A literal IPv6 address has brackets in a URL. */
function unbracketed(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

async function resolveChecked(host: string, opened: Ranges, lookUp: Lookup): Promise<Target> {
  const found = await addressesOf(unbracketed(host), lookUp);
  const target = found.find((candidate) => mayCall(candidate.address, opened));
  if (!target) throw new EgressError('the host is not an address that may be called');
  return target;
}

async function addressesOf(name: string, lookUp: Lookup): Promise<Target[]> {
  const family = isIP(name);
  if (family === 4 || family === 6) return [{ address: name, family }];
  // Forms such as 2130706433 or 0x7f.1 are addresses too; resolvers disagree about them.
  if (!/^(?=.{1,253}$)[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$/i.test(name) || /^[\dx.]+$/i.test(name)) {
    throw new EgressError('the host is not a valid name');
  }
  const timeout = new Promise<never>((_, reject) => {
    const timer = setTimeout(
      () => reject(new EgressError('the name took too long to resolve')),
      resolveTimeoutMs,
    );
    timer.unref();
  });
  try {
    return await Promise.race([lookUp(name), timeout]);
  } catch (error) {
    if (error instanceof EgressError) throw error;
    throw new EgressError('the name can not be resolved');
  }
}

async function lookUpAll(name: string): Promise<Target[]> {
  const answers = await lookup(name, { all: true });
  return answers.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

function openSocket(
  target: Target,
  { port, timeoutMs }: { port: number; timeoutMs: number },
): Promise<Socket> {
  return new Promise((done, fail) => {
    const socket = connectSocket({ host: target.address, port, family: target.family });
    const timer = setTimeout(
      () => socket.destroy(new EgressError('connecting took too long')),
      timeoutMs,
    );
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', fail);
      done(socket);
    });
    socket.once('error', (error) => {
      clearTimeout(timer);
      fail(error);
    });
  });
}

function createConnector(
  resolve: Egress['resolve'],
  options?: buildConnector.BuildOptions,
): buildConnector.connector {
  const connect = buildConnector({
    ...options,
    lookup(host, { all }, done) {
      resolve(host).then(
        ({ address, family }) =>
          all ? done(null, [{ address, family }]) : done(null, address, family),
        (error: NodeJS.ErrnoException) => done(error, '', 4),
      );
    },
  });
  return (target, done) => {
    const open = () =>
      connect(target, (...[error, socket]) =>
        error ? done(error, null) : done(null, passOverInterimResponses(socket)),
      );
    // A literal address is never looked up.
    if (isIP(unbracketed(target.hostname)) === 0) return open();
    resolve(target.hostname).then(open, (error) => done(error, null));
  };
}

async function callChecked(agent: Agent, options: EgressCall): Promise<EgressAnswer> {
  const url = new URL(options.url);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new EgressError('the URL must use http or https');
  }
  if (url.username || url.password) throw new EgressError('the URL must not hold credentials');
  const answer = await request(url, {
    dispatcher: agent,
    method: options.method,
    headers: options.headers,
    body: options.body ?? null,
    signal: AbortSignal.any([
      AbortSignal.timeout(options.timeoutMs),
      ...(options.signal ? [options.signal] : []),
    ]),
  });
  const { body, truncated } = await readUpTo(answer.body, options.sizeMaxBytes);
  return { status: answer.statusCode, headers: answer.headers, body, truncated };
}

async function readUpTo(
  stream: AsyncIterable<Buffer>,
  sizeMaxBytes: number,
): Promise<{ body: Buffer; truncated: boolean }> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  // Leaving the loop early destroys the stream, so an endless body ends here.
  for await (const chunk of stream) {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > sizeMaxBytes) break;
  }
  const all = Buffer.concat(chunks);
  return { body: all.subarray(0, sizeMaxBytes), truncated: sizeBytes > sizeMaxBytes };
}
