import { AsyncLocalStorage } from 'node:async_hooks';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, type Dispatcher, request } from 'undici';
import type { EgressSettings } from './config.ts';
import { connectorTo, unbracketed } from './connector.ts';
import { EgressError } from './egress-error.ts';
import { createNames, type Names } from './names/resolver.ts';
import type { OutsideAddress } from './names/target.ts';

/**
 * All connections to hosts chosen by tenants. Names are resolved once, and the address that is
 * connected to is checked: private, loopback, link-local and reserved ones, and those of cloud
 * services, are refused unless an operator has allowed their range. A workspace whose names DNS
 * does not answer delays itself alone.
 */
export type Egress = {
  /** Resolves a host of a workspace to an address that may be called. */
  resolve(host: string, workspaceId: string): Promise<OutsideAddress>;
  /**
   * The mail hosts of a domain, the preferred one first; for a workspace, whose share of queries it
   * takes. Throws a NameError where DNS has no answer.
   */
  mailHosts(domain: string, workspaceId: string): Promise<readonly string[]>;
  /** Whether the host is a literal address that may be called. */
  allows(host: string): boolean;
  /** Whether the host is a literal address in a range that an operator has allowed. */
  opens(host: string): boolean;
  /**
   * Makes an HTTP call of a workspace, for callers that limit them and read answers on their own:
   * no call waits for a connection, and no answer has a time limit.
   */
  dispatch(
    workspaceId: string,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): void;
  /** Makes one HTTP call; redirects are failures, time and size are bounded. */
  call(options: EgressCall): Promise<EgressAnswer>;
  close(): Promise<void>;
};

export type EgressCall = {
  workspaceId: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
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

/** The workspace of a call that opens a connection: undici tells a connector the host alone. */
const calling = new AsyncLocalStorage<string>();

export function createEgress(
  { allow, dnsServers }: EgressSettings,
  names: Names = createNames({ servers: dnsServers }),
): Egress {
  const opened = allow.map((range) => ipaddr.parseCIDR(range));
  const resolve = (host: string, workspaceId: string) =>
    resolveChecked(host, opened, (name) => names.resolve(name, workspaceId));
  // HTTP/1.1 only, since the first call of a host would hold up others until its protocol is known.
  const agent = new Agent({
    connect: connectorTo((host) => resolve(host, calling.getStore() ?? '')),
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    resolve,
    mailHosts: (domain, workspaceId) => names.mailHosts(domain, workspaceId),
    allows: (host) => isIP(unbracketed(host)) !== 0 && mayCall(unbracketed(host), opened),
    opens: (host) => isIP(unbracketed(host)) !== 0 && isOpened(unbracketed(host), opened),
    dispatch: (workspaceId, options, handler) => {
      calling.run(workspaceId, () => agent.dispatch(options, handler));
    },
    call: (options) => calling.run(options.workspaceId, () => callChecked(agent, options)),
    close: async () => {
      names.close();
      await agent.close();
    },
  };
}

type Ranges = readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];

function mayCall(address: string, opened: Ranges): boolean {
  if (isOpened(address, opened)) return true;
  // Every range but `unicast` is reserved; 6to4, Teredo and NAT64 have names of their own.
  return ipaddr.process(address).range() === 'unicast' && !isOpened(address, metadata);
}

/**
 * Formally public, but Azure's service for the machine itself. Other clouds use reserved ranges for
 * theirs.
 */
const metadata: Ranges = [ipaddr.parseCIDR('168.63.129.16/32')];

function isOpened(address: string, opened: Ranges): boolean {
  const parsed = ipaddr.process(address);
  return opened.some((range) => parsed.kind() === range[0].kind() && parsed.match(range));
}

/** Forms such as 2130706433 or 0x7f.1 are addresses too; resolvers disagree about them. */
const endsInNumber = /(^|\.)(\d+|0x[\da-f]*)\.?$/i;

type LookUp = (name: string) => Promise<readonly OutsideAddress[]>;

async function resolveChecked(
  host: string,
  opened: Ranges,
  lookUp: LookUp,
): Promise<OutsideAddress> {
  const found = await addressesOf(unbracketed(host), lookUp);
  const target = found.find((candidate) => mayCall(candidate.address, opened));
  if (!target)
    throw new EgressError(
      'the host is not an address that may be called; EGRESS_ALLOW opens private ranges',
    );
  return target;
}

async function addressesOf(name: string, lookUp: LookUp): Promise<readonly OutsideAddress[]> {
  const family = isIP(name);
  if (family === 4 || family === 6) return [{ address: name, family }];
  if (!/^(?=.{1,253}$)[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$/i.test(name) || endsInNumber.test(name)) {
    throw new EgressError('the host is not a valid name');
  }
  return lookUp(name);
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
