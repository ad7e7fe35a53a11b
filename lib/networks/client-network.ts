import ipaddr from 'ipaddr.js';

/** A provider gives each customer at least this much of IPv6, so all of it is one client. */
const networkBits = 64;

/**
 * The unit of limits by client: an IPv4 address, also if it is written as IPv6, or the /64 of an
 * IPv6 address. A text that is not an address is its own unit.
 */
export function clientNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${networkBits}`).toString();
}
