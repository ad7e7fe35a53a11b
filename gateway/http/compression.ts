import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { HttpAnswer } from './answer.ts';

// Below this a compressed body saves no packet.
const sizeMinBytes = 1_024;
// Higher levels take much more time and make JSON little smaller.
const level = 3;
const pack = promisify(gzip);

/** The answer in gzip if the client accepts it and it is large enough. */
export async function packed(
  { headers }: IncomingMessage,
  answer: HttpAnswer,
): Promise<HttpAnswer> {
  if (answer.isDense || Buffer.byteLength(answer.body) < sizeMinBytes) return answer;
  const varied = { ...answer.headers, vary: 'accept-encoding' };
  if (!takesGzip(headers['accept-encoding'])) return { ...answer, headers: varied };
  const body = answer.packed ?? (await pack(answer.body, { level }));
  return { ...answer, headers: { ...varied, 'content-encoding': 'gzip' }, body };
}

/** Whether `gzip` or `*` is among the codings, and not with a weight of zero. */
export function takesGzip(accepted: string | string[] | undefined): boolean {
  const codings = new Map(
    String(accepted ?? '')
      .toLowerCase()
      .split(',')
      .map((coding) => {
        const [name = '', weight = ''] = coding.split(';');
        return [name.trim(), !/^\s*q\s*=\s*0(?:\.0*)?\s*$/.test(weight)];
      }),
  );
  return codings.get('gzip') ?? codings.get('*') ?? false;
}
