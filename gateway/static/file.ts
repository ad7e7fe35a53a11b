import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import type { HttpAnswer } from '../http/answer.ts';
import { fixedAnswer } from './fixed.ts';

export type StaticFile = { path: string; answer: HttpAnswer };

const types: Record<string, string> = { '.css': 'text/css', '.js': 'text/javascript' };
/** A path never gets other content, so that browsers need not ask again. A year is the most. */
const forGood = { 'cache-control': 'public, max-age=31536000, immutable' };

/** A file of a page, whose path has the hash of its content: `/static/<name>.<hash>.js`. */
export function staticFile(name: string, body: string | Buffer, packed?: Buffer): StaticFile {
  const extension = extname(name);
  const type = types[extension];
  if (type === undefined) throw new Error(`no content type for ${name}`);
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16);
  const path = `/static/${name.slice(0, -extension.length)}.${hash}${extension}`;
  return { path, answer: fixedAnswer(type, body, forGood, packed) };
}
