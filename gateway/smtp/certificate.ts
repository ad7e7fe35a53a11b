import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** Of a server of mail. */
export type MailCertificate = { cert: Buffer | string; key: Buffer | string };

/*
 * A self-signed certificate (RFC 5280), as Node has no function that makes one. Mail servers
 * encrypt with it, and verify nothing.
 */

const years = 10;
const hourMs = 3_600_000;
const [sequence, set, integer, bitString, octetString] = [0x30, 0x31, 0x02, 0x03, 0x04];
const [utf8, utcTime, versionTag, extensionsTag, dnsName] = [0x0c, 0x17, 0xa0, 0xa3, 0x82];
const ecdsaWithSha256 = der(sequence, oid('2a8648ce3d040302'));
const commonName = oid('550403');
const subjectAltName = oid('551d11');

/** For a host, with a new key of P-256. */
export function selfSigned(host: string): MailCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = der(
    sequence,
    // At most 64 characters.
    der(set, der(sequence, commonName, der(utf8, Buffer.from(host.slice(0, 64))))),
  );
  const now = Date.now();
  const until = new Date(now);
  until.setUTCFullYear(until.getUTCFullYear() + years);
  const alternatives = der(sequence, der(dnsName, Buffer.from(host)));
  const extension = der(sequence, subjectAltName, der(octetString, alternatives));
  const body = der(
    sequence,
    der(versionTag, der(integer, Buffer.of(2))),
    der(integer, serialNumber()),
    ecdsaWithSha256,
    name,
    der(sequence, timeOf(new Date(now - hourMs)), timeOf(until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(extensionsTag, der(sequence, extension)),
  );
  const signature = sign('sha256', body, privateKey);
  const signed = der(sequence, body, ecdsaWithSha256, der(bitString, Buffer.of(0), signature));
  const lines = signed.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Positive, and without a leading zero. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function timeOf(date: Date): Buffer {
  const text = date.toISOString().replace(/[-:T]|\.\d+/g, '');
  return der(utcTime, Buffer.from(text.slice(2)));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

/** A value with its tag and length. */
function der(tag: number, ...content: Buffer[]): Buffer {
  const value = Buffer.concat(content);
  const { length } = value;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), value]);
  const size = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), value]);
}
