import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

/** Tells from which address a request came. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * Behind trusted proxies the client is the rightmost address of `X-Forwarded-For` that is no proxy's:
 * what stands left of it is whatever the client wrote.
 */
export function clientAddressBehind(trustedProxies: readonly string[]): ClientAddress {
  const isProxy = isWithin(trustedProxies);
  return ({ socket, headers }) => {
    const peer = plain(socket.remoteAddress ?? '');
    if (trustedProxies.length === 0) return peer;
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
    let client = peer;
    while (ipaddr.isValid(client) && isProxy(client)) {
      const before = plain(forwarded.pop()?.trim() ?? '');
      // A word that is no address ends what can be believed.
      if (!ipaddr.isValid(before)) break;
      client = before;
    }
    return client;
  };
}

/** Whether an address is in one of the ranges, which are in CIDR notation. */
export function isWithin(given: readonly string[]): (address: string) => boolean {
  const ranges = given.map((range) => ipaddr.parseCIDR(range));
  return (address) => {
    if (ranges.length === 0) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(
      ([range, bits]) => parsed.kind() === range.kind() && parsed.match(range, bits),
    );
  };
}

/** IPv4 is written as such, whatever the socket calls it. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
