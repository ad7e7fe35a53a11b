import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { remember } from '../cache.ts';

/**
 * The one form in which a network or a single address is stored, in CIDR notation; undefined for
 * any other text, and for an address with bits beyond its prefix, whose author may have meant
 * either. IPv4 written as IPv6 becomes IPv4.
 */
export function canonicalNetwork(text: string): string | undefined {
  const [, address = '', bits] = /^([^/%\s]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? [];
  if (!isAddress(address)) return undefined;
  const given = ipaddr.parse(address);
  const own = ipaddr.process(address);
  // A mapped address has its 32 bits behind 96 of IPv6.
  const hidden = given.kind() === own.kind() ? 0 : 96;
  const size = own.kind() === 'ipv4' ? 32 : 128;
  const prefix = bits === undefined ? size : Number(bits) - hidden;
  if (prefix < 0 || prefix > size) return undefined;
  const network = `${own.toString()}/${prefix}`;
  return networkOf(network) === own.toString() ? network : undefined;
}

function networkOf(cidr: string): string {
  const family = cidr.includes(':') ? ipaddr.IPv6 : ipaddr.IPv4;
  return family.networkAddressFromCIDR(cidr).toString();
}

/**
 * The library would read the obsolete `::10.1.2.3` as `::ffff:10.1.2.3`, which is another address.
 */
function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !/^::\d+\.\d/.test(text);
}

const networksMax = 10_000;
const parsed = remember(networksMax, (network) => ipaddr.parseCIDR(network));

/**
 * Whether an address is in one of the networks, which are canonical. An unknown address is in none.
 */
export function isInNetworks(networks: readonly string[], address: string): boolean {
  // A link-local peer is named with its interface.
  const [plain = ''] = address.split('%', 1);
  if (!isAddress(plain)) return false;
  const own = ipaddr.process(plain);
  return networks.some((network) => {
    const [start, bits] = parsed(network);
    return start.kind() === own.kind() && own.match([start, bits] as never);
  });
}
