import { createHash, createHmac } from 'node:crypto';

const algorithm = 'AWS4-HMAC-SHA256';

export type AwsKey = { accessKey: string; secretKey: string; region: string; service: string };

/** A request without a query. */
export type AwsRequest = {
  method: string;
  path: string;
  /** Names in lower case; `host` is among them. */
  headers: Readonly<Record<string, string>>;
  body: string | Buffer;
};

/**
 * Signature Version 4 of AWS: gives the headers `x-amz-date` and `authorization`. All headers that
 * are given are signed.
 */
export function signed(request: AwsRequest, key: AwsKey, now: Date): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const date = time.slice(0, 8);
  const headers = Object.entries({ ...request.headers, 'x-amz-date': time }).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const names = headers.map(([name]) => name).join(';');
  const canonical = [
    request.method,
    request.path,
    '',
    ...headers.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, ' ')}`),
    '',
    names,
    sha256(request.body),
  ].join('\n');
  const scope = `${date}/${key.region}/${key.service}/aws4_request`;
  const text = [algorithm, time, scope, sha256(canonical)].join('\n');
  const signature = hmac(signingKey(key, date), text).toString('hex');
  const credential = `Credential=${key.accessKey}/${scope}`;
  return {
    'x-amz-date': time,
    authorization: `${algorithm} ${credential}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

/** Of one day, region and service. */
function signingKey({ secretKey, region, service }: AwsKey, date: string): Buffer {
  return [date, region, service, 'aws4_request'].reduce<Buffer>(
    (key, part) => hmac(key, part),
    Buffer.from(`AWS4${secretKey}`),
  );
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}
