import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/**
 * A name's records, those of `mx` with preferences in their order; `silent` is never answered,
 * `broken` is SERVFAIL, `absent` NXDOMAIN.
 */
export type Zone =
  | { a?: string[]; aaaa?: string[]; mx?: string[]; ttl?: number }
  | 'silent'
  | 'broken'
  | 'absent';

export type DnsServer = {
  /** `address:port`, as `DNS_SERVERS` takes it. */
  address: string;
  /** The queries that came: `A smtp.example`. */
  asked: string[];
  close(): Promise<void>;
};

const ipv4 = 1;
const ipv6 = 28;
const mailHost = 15;
const typeNames: Record<number, string> = { [ipv4]: 'A', [ipv6]: 'AAAA', [mailHost]: 'MX' };
const codes = { broken: 2, absent: 3 };

/** A DNS server on loopback, over UDP alone. */
export async function startDnsServer(zoneOf: (name: string) => Zone): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, { address, port }) => {
    const { name, type, questionEnd } = questionOf(query);
    asked.push(`${typeNames[type] ?? type} ${name}`);
    const zone = zoneOf(name);
    if (zone === 'silent') return;
    const records = typeof zone === 'string' ? [] : recordsOf(zone, type);
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (typeof zone === 'string' ? codes[zone] : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([head, query.subarray(12, questionEnd), ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise((done) => socket.close(() => done())),
  };
}

function questionOf(query: Buffer): { name: string; type: number; questionEnd: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), questionEnd: at + 5 };
}

function recordsOf(
  { a = [], aaaa = [], mx = [], ttl = 60 }: Exclude<Zone, string>,
  type: number,
): Buffer[] {
  const ofType: Record<number, Buffer[]> = {
    [ipv4]: a.map(bytesOf4),
    [ipv6]: aaaa.map(bytesOf6),
    [mailHost]: mx.map(bytesOfMailHost),
  };
  return (ofType[type] ?? []).map((bytes) => {
    const head = Buffer.alloc(12);
    // The name is a pointer to that of the question.
    head.writeUInt16BE(0xc00c, 0);
    head.writeUInt16BE(type, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt32BE(ttl, 6);
    head.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([head, bytes]);
  });
}

const bytesOf4 = (address: string) => Buffer.from(address.split('.').map(Number));

function bytesOfMailHost(host: string, place: number): Buffer {
  const labels = host.split('.').filter((label) => label !== '');
  const parts = labels.map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  return Buffer.concat([Buffer.from([0, 10 * (place + 1)]), ...parts, Buffer.from([0])]);
}

/** With at most one `::`, in the middle or at the end. */
function bytesOf6(address: string): Buffer {
  const [start = '', end = ''] = address.split('::');
  const groups = (text: string) => text.split(':').filter((group) => group !== '');
  const before = groups(start);
  const after = groups(end);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  const bytes = Buffer.alloc(16);
  for (const [index, group] of [...before, ...zeros, ...after].entries()) {
    bytes.writeUInt16BE(Number.parseInt(group, 16), 2 * index);
  }
  return bytes;
}
