import { Resolver } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OutsideAddress } from './target.ts';

/** The result of a DNS query for a name. */
export type DnsAnswer =
  | { targets: OutsideAddress[]; ttlSeconds: number }
  /**
   * `not_there`: the name has no address. `no_answer`: no resolver has said anything of it, in time
   * or at all.
   */
  | { failure: 'not_there' | 'no_answer' };

/** A server that is silent for this long is asked again, or the next one is. */
const serverTimeoutMs = 1_000;
const triesMax = 3;
/** With IPv4 at hand, an answer about IPv6 gets this long; some servers never give one. */
const ipv6WaitMs = 50;
/** An answer may have thousands. */
const addressesMax = 16;
/** The preferred ones say whose they are. */
const mailHostsMax = 5;
/** A server's word that there is nothing; all else is silence, or trouble of the resolver. */
const notThere = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/** The mail hosts of a domain, the preferred one first; none where it names none. */
export type MailAnswer = { hosts: string[] } | { failure: 'no_answer' };

type QueryOptions = { servers: readonly string[]; signal: AbortSignal };

type FamilyAnswer = { targets: OutsideAddress[]; ttlSeconds: number; code: string };

/**
 * Asks DNS for the candidates of a name, in order, until one has an address; with c-ares, which
 * takes no thread. Each query has a channel of its own: aborting ends it at once, its port is a
 * fresh one, and `/etc/resolv.conf` is read anew.
 */
export async function queryDns(
  candidates: readonly string[],
  options: QueryOptions,
): Promise<DnsAnswer> {
  return withResolver(options, async (resolver) => {
    let failure: 'not_there' | 'no_answer' = 'not_there';
    for (const name of candidates) {
      const answer = await ask(resolver, name);
      if ('targets' in answer) return answer;
      if (answer.failure === 'no_answer') failure = 'no_answer';
      if (options.signal.aborted) break;
    }
    return { failure };
  });
}

/** Asks DNS for the MX records of a domain. Hosts of one preference are in the order of names. */
export async function queryMailHosts(domain: string, options: QueryOptions): Promise<MailAnswer> {
  return withResolver(options, async (resolver) => {
    try {
      const records = await resolver.resolveMx(domain);
      const inOrder = records.toSorted(
        (one, other) => one.priority - other.priority || (one.exchange < other.exchange ? -1 : 1),
      );
      const hosts = inOrder.map(({ exchange }) => exchange.toLowerCase());
      // An empty one says that the domain takes no mail (RFC 7505).
      return { hosts: hosts.filter((host) => host !== '').slice(0, mailHostsMax) };
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      return notThere.has(code) ? { hosts: [] } : { failure: 'no_answer' };
    }
  });
}

/** A resolver that ends with the work, or is cancelled before. */
export async function withResolver<Answer>(
  { servers, signal }: QueryOptions,
  work: (resolver: Resolver) => Promise<Answer>,
): Promise<Answer> {
  const resolver = new Resolver({ timeout: serverTimeoutMs, tries: triesMax });
  if (servers.length > 0) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await work(resolver);
  } finally {
    signal.removeEventListener('abort', cancel);
    // The half that nobody waits for.
    resolver.cancel();
  }
}

async function ask(resolver: Resolver, name: string): Promise<DnsAnswer> {
  const asked6 = half(resolver.resolve6(name, { ttl: true }), 6);
  const ipv4 = await half(resolver.resolve4(name, { ttl: true }), 4);
  if (ipv4.code === 'ENOTFOUND') return { failure: 'not_there' };
  const ipv6 =
    ipv4.targets.length === 0 ? await asked6 : await Promise.race([asked6, sleep(ipv6WaitMs)]);
  const halves = ipv6 ? [ipv4, ipv6] : [ipv4];
  const inOrder = hasOnlyIpv6() ? halves.toReversed() : halves;
  const targets = inOrder.flatMap((each) => each.targets.slice(0, addressesMax));
  if (targets.length > 0) {
    return { targets, ttlSeconds: Math.min(...halves.map(({ ttlSeconds }) => ttlSeconds)) };
  }
  const isKnown = halves.every(({ code }) => notThere.has(code));
  return { failure: isKnown ? 'not_there' : 'no_answer' };
}

/** Never rejects. */
async function half(
  asked: Promise<{ address: string; ttl: number }[]>,
  family: 4 | 6,
): Promise<FamilyAnswer> {
  try {
    const records = await asked;
    return {
      targets: records.map(({ address }) => ({ address, family })),
      ttlSeconds: Math.min(...records.map(({ ttl }) => ttl)),
      code: '',
    };
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return { targets: [], ttlSeconds: Number.POSITIVE_INFINITY, code };
  }
}

/** Then IPv4 addresses lead nowhere, and stand last. */
function hasOnlyIpv6(): boolean {
  const outward = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, scopeid }) => !internal && !scopeid);
  return outward.length > 0 && outward.every(({ family }) => family === 'IPv6');
}
