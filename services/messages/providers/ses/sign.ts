import { createHash, createHmac } from 'node:crypto';

/** A request to AWS, before it is signed. */
export type UnsignedRequest = {
  method: string;
  url: string;
  /** By their names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string | Buffer;
  service: string;
  region: string;
  accessKey: string;
  secretKey: string;
  now: Date;
};

/**
 * The headers of a request with its signature (AWS Signature Version 4). Paths of the APIs that are
 * called need no second encoding.
 */
export function signRequest(request: UnsignedRequest): Record<string, string> {
  const { method, service, region, accessKey, secretKey, body } = request;
  const { host, pathname, searchParams } = new URL(request.url);
  const time = request.now.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const [date = ''] = time.split('T');
  const headers: Record<string, string> = { ...request.headers, 'x-amz-date': time };
  const signed = Object.entries({ ...headers, host }).toSorted(byName);
  const names = signed.map(([name]) => name).join(';');
  const query = [...searchParams].map(([name, value]) => [encoded(name), encoded(value)] as const);
  const canonical = [
    ...[
      method,
      pathname,
      query
        .toSorted(byName)
        .map((pair) => pair.join('='))
        .join('&'),
    ],
    ...signed.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, ' ')}`),
    ...['', names, sha256(body)],
  ].join('\n');
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = [date, region, service, 'aws4_request'].reduce<Buffer>(
    hmac,
    Buffer.from(`AWS4${secretKey}`),
  );
  const signature = hmac(key, text).toString('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...headers, authorization };
}

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]) =>
  a < b ? -1 : Number(a > b);

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** As RFC 3986 has it: `encodeURIComponent` leaves five characters more. */
const encoded = (text: string) =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
