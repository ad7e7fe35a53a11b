import type { IncomingHttpHeaders } from 'node:http';
import { isbot } from 'isbot';
import { remember } from '#lib/cache.ts';

// The readers of a mail share few programs, and the check is a search by a very long pattern.
const isBot = remember(1_000, isbot);

/** Whether the request is a program's: by its user agent, a prefetch of a browser, or HEAD. */
export function isProgram({
  method,
  headers,
}: {
  method?: string;
  headers: IncomingHttpHeaders;
}): boolean {
  const purpose =
    headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz'];
  if (method === 'HEAD' || /prefetch|preview|prerender/i.test(String(purpose ?? ''))) return true;
  const agent = headers['user-agent'];
  return agent === undefined || isBot(agent);
}
