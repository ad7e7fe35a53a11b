import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/*
 * The header of the PROXY protocol, by which a load balancer says who its client is, before all
 * bytes of the client: a line of text in version 1, as HAProxy writes it for `send-proxy`, and
 * bytes in version 2, as it writes them for `send-proxy-v2` and AWS for its Network Load Balancers.
 * https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt
 */

export type ProxyHeader = {
  /** Bytes of the header. All behind them is the client's. */
  length: number;
  /**
   * Undefined where the header names none: of a connection that the load balancer makes for itself,
   * to see whether its server lives, and of a client without an address, such as a UNIX socket.
   */
  client: ProxiedClient | undefined;
};

export type ProxiedClient = { remoteAddress: string; remotePort: number };

/** With its end; the specification's number, which is the longest line that it has. */
const lineMaxBytes = 107;
/** Version 2 has up to 64 KiB; what its extensions say, of TLS or of the cloud, is far below. */
const headerMaxBytes = 4_096;

const line = Buffer.from('PROXY ');
const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** The signature, version and command, family and protocol, and the length of what follows. */
const fixedBytes = signature.length + 4;
const isLocal = 0;
const isProxied = 1;
/** Of two addresses and two ports, by the family of the header. */
const families = new Map([
  [1, { addressBytes: 4 }],
  [2, { addressBytes: 16 }],
]);
/** Neither, and a UNIX socket. */
const familiesWithoutAddress = [0, 3];
const protocolMax = 2;

/**
 * Reads a header from the first bytes of a connection. Undefined while it needs more of them; an
 * error for bytes that no header begins with, as soon as they have come.
 */
export function readProxyHeader(bytes: Buffer): ProxyHeader | undefined {
  if (beginsAs(line, bytes)) return readLine(bytes);
  if (beginsAs(signature, bytes)) return readBytes(bytes);
  throw new Error('no header of the PROXY protocol');
}

/** Also of its first bytes. */
function beginsAs(start: Buffer, bytes: Buffer): boolean {
  const length = Math.min(start.length, bytes.length);
  return bytes.subarray(0, length).equals(start.subarray(0, length));
}

function readLine(bytes: Buffer): ProxyHeader | undefined {
  const end = bytes.subarray(0, lineMaxBytes).indexOf('\r\n');
  if (end < 0 && bytes.length < lineMaxBytes) return undefined;
  const text = bytes.subarray(0, Math.max(end, 0)).toString('latin1');
  const length = end + 2;
  if (/^PROXY UNKNOWN(?: |$)/.test(text)) return { length, client: undefined };
  const [, family, from = '', to = '', ...ports] =
    /^PROXY TCP([46]) ([\d.:a-f]+) ([\d.:a-f]+) (\d{1,5}) (\d{1,5})$/i.exec(text) ?? [];
  const isAddress = family === '4' ? isIPv4 : isIPv6;
  const isRight = isAddress(from) && isAddress(to) && ports.every((port) => Number(port) <= 65_535);
  if (!isRight) throw new Error('a wrong header of the PROXY protocol, version 1');
  return { length, client: clientOf(ipaddr.process(from), Number(ports[0])) };
}

function readBytes(bytes: Buffer): ProxyHeader | undefined {
  if (bytes.length < fixedBytes) return undefined;
  const version = bytes.readUInt8(signature.length);
  const kind = bytes.readUInt8(signature.length + 1);
  const [family, protocol] = [kind >> 4, kind & 0xf];
  const command = version & 0xf;
  const length = fixedBytes + bytes.readUInt16BE(signature.length + 2);
  const isKnown = version >> 4 === 2 && (command === isLocal || command === isProxied);
  if (!isKnown || length > headerMaxBytes) throw wrongBytes();
  if (bytes.length < length) return undefined;
  if (command === isLocal) return { length, client: undefined };
  if (protocol > protocolMax) throw wrongBytes();
  if (familiesWithoutAddress.includes(family)) return { length, client: undefined };
  const { addressBytes } = families.get(family) ?? {};
  // Two addresses and two ports, with extensions behind them.
  if (!addressBytes || length < fixedBytes + 2 * addressBytes + 4) throw wrongBytes();
  const address = bytes.subarray(fixedBytes, fixedBytes + addressBytes);
  const port = bytes.readUInt16BE(fixedBytes + 2 * addressBytes);
  const parsed = ipaddr.fromByteArray([...address]);
  return { length, client: clientOf(ipaddr.process(parsed.toString()), port) };
}

const wrongBytes = () => new Error('a wrong header of the PROXY protocol, version 2');

/** IPv4 written as IPv6 is IPv4 by now. */
function clientOf(address: ipaddr.IPv4 | ipaddr.IPv6, remotePort: number): ProxiedClient {
  return { remoteAddress: address.toString(), remotePort };
}
