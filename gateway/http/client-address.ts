import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';

/** The address that a request came from. */
export type ClientAddress = (request: {
  headers: IncomingHttpHeaders;
  socket: { remoteAddress?: string };
}) => string;

/**
 * Behind trusted proxies the client is the rightmost address of `X-Forwarded-For` that is not a
 * proxy's: clients can write anything to the left of it.
 */
export function clientAddressBehind(trustedProxies: readonly string[]): ClientAddress {
  const isProxy = isWithin(trustedProxies);
  return (request) => {
    const peer = request.socket.remoteAddress ?? '';
    if (trustedProxies.length === 0) return plain(peer);
    // No proxy vouches for the last entry, so it may be any text.
    const client = proxyAddr
      .all(request as IncomingMessage, isProxy)
      .findLast((entry) => ipaddr.isValid(entry));
    return plain(client ?? peer);
  };
}

/**
 * Whether an address is in one of the ranges, which are in CIDR notation. Throws for a range that
 * is not.
 */
export function isWithin(ranges: readonly string[]): (address: string) => boolean {
  const trust = proxyAddr.compile([...ranges]);
  return (address) => trust(address, 0);
}

/** Sockets report IPv4 addresses as IPv6 ones if the server listens on both. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
