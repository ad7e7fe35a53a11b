import { getServers } from 'node:dns';
import type { Resolver } from 'node:dns/promises';
import { ConcurrencyLimiter } from '#lib/limits/concurrency-limiter.ts';
import { withResolver } from '#lib/outside/names/query.ts';

/** The values of a name, none if it has none; `unreachable` where the server has not said it. */
export type RecordAnswer = { values: string[] } | 'unreachable';

/** One DNS server. */
export type DnsServer = {
  /** The texts of TXT records, the strings of each joined. */
  texts(name: string, workspaceId: string): Promise<RecordAnswer>;
  /** The target of a CNAME: no value, or one. */
  target(name: string, workspaceId: string): Promise<RecordAnswer>;
};

const queryMaxMs = 4_000;
/** Installations name one or two; more would cost queries and prove nothing. */
const serversMax = 4;
const valuesMax = 50;
const valueLengthMax = 4_096;
/** A server's word that there is nothing. */
const notThere = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * The DNS servers that are asked for records, each by itself: those of DNS_SERVERS, or of
 * `/etc/resolv.conf`. A workspace has 32 queries open at most, so that names without an answer
 * delay its own checks alone.
 */
export function dnsServers(given: readonly string[]): readonly DnsServer[] {
  const queries = new ConcurrencyLimiter({
    ...{ places: 256, aloneMax: 32 },
    ...{ tenantWaitingMax: 2_000, waitMaxMs: 15_000 },
  });
  const addresses = given.length > 0 ? given : getServers();
  return addresses.slice(0, serversMax).map((address) => ({
    texts: (name, workspaceId) =>
      ask(queries, workspaceId, address, async (resolver) => {
        const records = await resolver.resolveTxt(name);
        return records.map((strings) => strings.join(''));
      }),
    target: (name, workspaceId) =>
      ask(queries, workspaceId, address, async (resolver) => {
        const targets = await resolver.resolveCname(name);
        return targets.map((target) => target.toLowerCase().replace(/\.$/, ''));
      }),
  }));
}

/** Never rejects. Each query has a socket of its own, with a fresh port. */
async function ask(
  queries: ConcurrencyLimiter,
  workspaceId: string,
  address: string,
  resolve: (resolver: Resolver) => Promise<string[]>,
): Promise<RecordAnswer> {
  const leave = await queries
    .enter(workspaceId, AbortSignal.timeout(60_000))
    .catch(() => undefined);
  if (!leave) return 'unreachable';
  try {
    const options = { servers: [address], signal: AbortSignal.timeout(queryMaxMs) };
    const values = await withResolver(options, resolve);
    return { values: values.slice(0, valuesMax).map(storable) };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return notThere.has(code) ? { values: [] } : 'unreachable';
  } finally {
    leave();
  }
}

/** The value is somebody else's choice, and PostgreSQL takes no zero byte. */
function storable(value: string): string {
  return value.slice(0, valueLengthMax).replaceAll(/[^\x20-\x7e]/g, '\u{fffd}');
}
