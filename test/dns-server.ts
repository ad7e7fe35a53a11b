import { createSocket } from 'node:dgram';
import { once } from 'node:events';

type Records = {
  a?: string[];
  aaaa?: string[];
  /** With preferences in their order. */
  mx?: string[];
  /** Each is cut into strings of 255 bytes. */
  txt?: string[];
  /** Answered together with the records that it leads to, as a resolver does. */
  cname?: string;
  ttl?: number;
};

/** A name's records; `silent` is never answered, `broken` is SERVFAIL, `absent` NXDOMAIN. */
export type Zone = Records | 'silent' | 'broken' | 'absent' | 'refused';

export type DnsServer = {
  /** `address:port`, as `DNS_SERVERS` takes it. */
  address: string;
  /** The queries that came: `A smtp.example`. */
  asked: string[];
  close(): Promise<void>;
};

const ipv4 = 1;
const cname = 5;
const mailHost = 15;
const txt = 16;
const ipv6 = 28;
const typeNames = new Map([
  [ipv4, 'A'],
  [cname, 'CNAME'],
  [mailHost, 'MX'],
  [txt, 'TXT'],
  [ipv6, 'AAAA'],
]);
const codes = { broken: 2, absent: 3, refused: 5 };
/** Of a chain of CNAMEs. */
const hopsMax = 8;

/** A DNS server on loopback, over UDP alone. */
export async function startDnsServer(zoneOf: (name: string) => Zone): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, { address, port }) => {
    const { name, type, questionEnd } = questionOf(query);
    asked.push(`${typeNames.get(type) ?? type} ${name}`);
    const zone = zoneOf(name);
    if (zone === 'silent') return;
    const records = chainOf(zoneOf, name, type);
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

/** The records of a name, and of the names that its CNAME leads to. */
function chainOf(zoneOf: (name: string) => Zone, name: string, type: number): Buffer[] {
  const records: Buffer[] = [];
  let next: string | undefined = name;
  for (let hops = 0; next !== undefined && hops < hopsMax; hops += 1) {
    const zone = zoneOf(next);
    if (typeof zone === 'string') break;
    const owner = next;
    records.push(...dataOf(zone, type).map((data) => record(owner, data, zone.ttl)));
    next = type === cname ? undefined : zone.cname;
  }
  return records;
}

type RecordData = { type: number; bytes: Buffer };

function dataOf(zone: Records, type: number): RecordData[] {
  const { a = [], aaaa = [], mx = [], txt: texts = [], cname: target } = zone;
  const alias = target === undefined ? [] : [{ type: cname, bytes: nameBytes(target) }];
  if (type === ipv4) return [...alias, ...a.map((each) => ({ type, bytes: bytesOf4(each) }))];
  if (type === ipv6) return [...alias, ...aaaa.map((each) => ({ type, bytes: bytesOf6(each) }))];
  if (type === mailHost)
    return [...alias, ...mx.map((host, place) => ({ type, bytes: bytesOfMailHost(host, place) }))];
  if (type === txt) return [...alias, ...texts.map((each) => ({ type, bytes: textBytes(each) }))];
  return type === cname ? alias : [];
}

function record(owner: string, { type, bytes }: RecordData, ttl = 60): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt32BE(ttl, 4);
  head.writeUInt16BE(bytes.length, 8);
  return Buffer.concat([nameBytes(owner), head, bytes]);
}

function nameBytes(name: string): Buffer {
  const labels = name
    .split('.')
    .filter((label) => label !== '')
    .map((label) => Buffer.from(label, 'latin1'));
  const parts = labels.flatMap((label) => [Buffer.from([label.length]), label]);
  return Buffer.concat([...parts, Buffer.alloc(1)]);
}

function textBytes(text: string): Buffer {
  const bytes = Buffer.from(text);
  const strings: Buffer[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += 255) {
    const part = bytes.subarray(at, at + 255);
    strings.push(Buffer.from([part.length]), part);
  }
  return Buffer.concat(strings);
}

const bytesOf4 = (address: string) => Buffer.from(address.split('.').map(Number));

/** An empty host says that the domain takes no mail. */
function bytesOfMailHost(host: string, place: number): Buffer {
  return Buffer.concat([Buffer.from([0, 10 * (place + 1)]), nameBytes(host)]);
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
