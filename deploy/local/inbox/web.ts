import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { contentSecurityPolicy } from '#lib/html/content-security-policy.ts';
import { mailRoutes } from './mail-routes.ts';
import { fault, type InboxAnswer, notFound, type Question } from './routes.ts';
import { webhookRoutes } from './webhook-routes.ts';

type Kept = Pick<Question, 'box' | 'callbacks'>;

const routes = [...mailRoutes, ...webhookRoutes];
const connectionsMax = 1_000;
const nothing = contentSecurityPolicy({});

/** Takes webhooks, and shows mails and webhooks to people (pages) and programs (JSON). */
export async function startWeb(
  kept: Kept,
  { host, port }: { host: string; port: number },
): Promise<{ stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    answer(kept, request, gone.signal).then(
      (it) => send(request, response, it),
      () => send(request, response, fault(500, 'the inbox failed')),
    );
  });
  server.maxConnections = connectionsMax;
  server.listen(port, host);
  await once(server, 'listening');
  return {
    stop: async () => {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

async function answer(
  kept: Kept,
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<InboxAnswer> {
  // DNS rebinding: another site can point its name to this address, so only the own names are
  // answered.
  if (!/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(request.headers.host ?? '')) {
    return fault(403, 'unknown host');
  }
  const url = new URL(request.url ?? '/', 'http://inbox');
  const here = routes.filter(([, path]) => path.test(url.pathname));
  if (here.length === 0) return notFound;
  const found = here.find(([method]) => method === request.method);
  if (found === undefined) return fault(405, 'method not allowed');
  const part = found[1].exec(url.pathname)?.[1] ?? '';
  return found[2]({ ...kept, request, signal, query: url.searchParams, part });
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status = 200, type, body, policy, fileName }: InboxAnswer,
): void {
  response.writeHead(status, {
    'content-type': typeof body === 'string' ? `${type}; charset=utf-8` : type,
    'content-security-policy': policy ?? nothing,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    ...(fileName === undefined ? {} : { 'content-disposition': saveAs(fileName) }),
    // The rest of a body that is too large is not read.
    ...(request.complete ? {} : { connection: 'close' }),
  });
  response.end(body);
}

/** RFC 6266; a name has no character that could end it. */
function saveAs(fileName: string): string {
  const name = fileName.replace(/[\p{Cc}\p{Cs}/\\]/gu, '_').slice(0, 200);
  const encoded = encodeURIComponent(name).replace(/['()*]/g, percent);
  return `attachment; filename="${name.replace(/[^\w. -]/g, '_')}"; filename*=UTF-8''${encoded}`;
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
