import type { IncomingMessage } from 'node:http';
import type { HttpAnswer } from './answer.ts';

/** 304 in place of an answer whose `ETag` the client has already. */
export function unlessKnown({ headers }: IncomingMessage, answer: HttpAnswer): HttpAnswer {
  const known = headers['if-none-match'];
  const { 'content-encoding': _, etag, ...kept } = answer.headers;
  if (answer.status !== 200 || !etag || !known || !isAmong(known, etag)) return answer;
  return { status: 304, headers: { ...kept, etag }, body: '' };
}

/** A weak tag is as good as a strong one: both forms of gzip have the same. */
function isAmong(known: string, etag: string): boolean {
  return known.trim() === '*' || known.split(',').some((tag) => bare(tag) === bare(etag));
}

const bare = (tag: string) => tag.trim().replace(/^W\//, '');
