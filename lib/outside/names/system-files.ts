import { open } from 'node:fs/promises';
import { isIP } from 'node:net';
import { createCache } from '#lib/cache.ts';
import type { OutsideAddress } from './target.ts';

/**
 * The names that this machine knows by itself, and how it completes short ones: `/etc/hosts` and
 * `/etc/resolv.conf`.
 */
export type SystemFiles = {
  hosts: ReadonlyMap<string, readonly OutsideAddress[]>;
  /** Domains that are tried behind a name. */
  search: readonly string[];
  /** A name with fewer dots is tried with the domains first. */
  ndots: number;
};

export type Paths = { hosts: string; resolvConf: string };

const systemPaths: Paths = { hosts: '/etc/hosts', resolvConf: '/etc/resolv.conf' };
/** How old what was read may be. */
const readEveryMs = 5_000;
/** Of each file; what comes after that is not read. */
const sizeMaxBytes = 1024 * 1024;
/** As many as Kubernetes allows. */
const searchMax = 32;
/** As in the resolver of the C library. */
const ndotsMax = 15;

/**
 * c-ares, which asks DNS alone, reads neither file for its queries. A file that is not there is an
 * empty one.
 */
export function createSystemFiles(paths: Paths = systemPaths): () => Promise<SystemFiles> {
  const kept = createCache<SystemFiles>({ entriesMax: 1, keepMs: readEveryMs });
  return () =>
    kept('files', async () => {
      const [hosts, resolvConf] = await Promise.all([
        readStart(paths.hosts),
        readStart(paths.resolvConf),
      ]);
      return { hosts: hostsOf(hosts), ...completionOf(resolvConf) };
    });
}

/**
 * The names to ask for in place of a given one, in order. A dot at its end says that it is
 * complete.
 */
export function candidatesOf(
  name: string,
  { search, ndots }: Pick<SystemFiles, 'search' | 'ndots'>,
): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const completed = search
    .map((domain) => `${name}.${domain}`)
    .filter(({ length }) => length < 254);
  const dots = name.split('.').length - 1;
  return dots >= ndots ? [name, ...completed] : [...completed, name];
}

async function readStart(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(sizeMaxBytes), 0, sizeMaxBytes, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return '';
  }
}

function wordsOfLines(text: string): string[][] {
  const lines = text.split('\n').map((line) => line.replace(/[#;].*/, '').trim());
  return lines.filter((line) => line !== '').map((line) => line.split(/\s+/));
}

function hostsOf(text: string): Map<string, OutsideAddress[]> {
  const hosts = new Map<string, OutsideAddress[]>();
  for (const [address = '', ...names] of wordsOfLines(text)) {
    const family = isIP(address);
    // An address with a zone, such as `fe80::1%eth0`, is of this link alone.
    if ((family !== 4 && family !== 6) || address.includes('%')) continue;
    for (const name of names.map((each) => each.toLowerCase())) {
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
    }
  }
  return hosts;
}

/** The last `search` or `domain` counts. */
function completionOf(text: string): Pick<SystemFiles, 'search' | 'ndots'> {
  let search: string[] = [];
  let ndots = 1;
  for (const [keyword, ...values] of wordsOfLines(text)) {
    if (keyword === 'search' || keyword === 'domain') {
      const domains = values.map((domain) => domain.toLowerCase().replace(/^\.+|\.+$/g, ''));
      search = domains.filter((domain) => domain !== '').slice(0, searchMax);
    }
    if (keyword !== 'options') continue;
    for (const option of values) {
      const [, given] = /^ndots:(\d+)$/.exec(option) ?? [];
      if (given !== undefined) ndots = Math.min(Number(given), ndotsMax);
    }
  }
  return { search, ndots };
}
