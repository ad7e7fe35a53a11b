import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Transport } from '@connectrpc/connect';

/** The replicas of a service, as they are now; never none. */
export type Replicas = () => readonly Transport[];

/** How old the addresses behind a name may be. Nothing is looked up while nobody calls. */
const lookupEveryMs = 5_000;

/** Connects to `host:port`, at one of the host's addresses if one is given. */
type Connect = (address: string, ip?: string) => Transport;
type Lookup = (host: string) => Promise<readonly string[]>;

/**
 * Every address behind the names of a service, such as those of a headless Service in Kubernetes,
 * as they come and go.
 */
export function followReplicas(
  addresses: readonly string[],
  connect: Connect,
  { resolve = addressesOf, everyMs = lookupEveryMs }: Partial<Following> = {},
): Replicas {
  const names = addresses.map((address) => followName(address, connect, { resolve, everyMs }));
  return () => names.flatMap((replicas) => replicas());
}

type Following = { resolve: Lookup; everyMs: number };

function followName(address: string, connect: Connect, { resolve, everyMs }: Following): Replicas {
  const { hostname } = new URL(`tcp://${address}`);
  let known = new Map<string, Transport>([['', connect(address)]]);
  let transports = [...known.values()];
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return () => transports;
  let lookedUpAtMs = Number.NEGATIVE_INFINITY;
  const look = async () => {
    const ips = await resolve(hostname);
    if (ips.length === 0) return;
    // Connections to addresses that are gone end with their replica.
    known = new Map(ips.map((ip) => [ip, known.get(ip) ?? connect(address, ip)]));
    transports = [...known.values()];
  };
  return () => {
    if (performance.now() - lookedUpAtMs > everyMs) {
      lookedUpAtMs = performance.now();
      // Without an answer the addresses of before stay.
      look().catch(() => {});
    }
    return transports;
  };
}

async function addressesOf(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true });
  return [...new Set(found.map(({ address }) => address))].sort();
}
