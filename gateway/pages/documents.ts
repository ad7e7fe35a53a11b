import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Route } from '../api/routes.ts';
import type { HttpAnswer } from '../http/answer.ts';
import { fromAnySite, preflightHeaders } from '../http/cors.ts';
import type { Exchange } from '../http/exchange.ts';
import { Refusal } from '../http/refusal.ts';
import { createDocument } from '../openapi/document.ts';
import { errorsPage } from './docs/errors.ts';
import { eventsPage } from './docs/events.ts';
import { limitsPage } from './docs/limits.ts';
import { liquidPage } from './docs/liquid.ts';
import { previewPage, previewPolicy, previewScript } from './docs/preview.ts';
import { quickstartPrograms, startPage } from './docs/start.ts';
import { variablesPage } from './docs/variables.ts';
import type { HtmlPage } from './page.ts';

// Vendored: see the README beside it.
const scalar = join(import.meta.dirname, 'scalar/standalone.js.gz');

/** Scalar loads nothing from other sites and reports nothing to them. */
const settings = {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  defaultOpenAllTags: true,
  orderSchemaPropertiesBy: 'preserve',
  persistAuth: false,
  documentDownloadType: 'json',
};

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Postrider API</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>The API's description for programs is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<div id="app"></div>
<script src="/docs/scalar.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

// Scripts come from this origin only, and no request goes to another one. Scalar writes styles
// while it runs, so inline styles are allowed.
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headersOf = (policy: string) => ({
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
});

/**
 * The first page, the OpenAPI document, and pages that show it, Liquid, and a mail. All answers are
 * made and compressed once.
 */
export function documentsPage(routes: ReadonlyMap<string, readonly Route[]>): HtmlPage {
  const script = readFileSync(scalar);
  const start = `Scalar.createApiReference('#app', ${JSON.stringify(settings)});\n`;
  const documents = new Map([
    ['/', fixed('text/html', startPage(), headersOf(contentSecurityPolicy))],
    ...quickstartPrograms().map(([path, text]) => [path, fixed('text/plain', text)] as const),
    ['/openapi.json', fixed('application/json', `${JSON.stringify(createDocument(routes))}\n`)],
    ['/docs', fixed('text/html', page, headersOf(contentSecurityPolicy))],
    ['/docs/liquid', fixed('text/html', liquidPage(), headersOf(contentSecurityPolicy))],
    ['/docs/errors', fixed('text/html', errorsPage(), headersOf(contentSecurityPolicy))],
    ['/docs/events', fixed('text/html', eventsPage(), headersOf(contentSecurityPolicy))],
    ['/docs/limits', fixed('text/html', limitsPage(routes), headersOf(contentSecurityPolicy))],
    ['/docs/variables', fixed('text/html', variablesPage(), headersOf(contentSecurityPolicy))],
    ['/docs/preview', fixed('text/html', previewPage, headersOf(previewPolicy))],
    ['/docs/preview.js', fixed('text/javascript', previewScript)],
    ['/docs/start.js', fixed('text/javascript', start)],
    ['/docs/scalar.js', fixed('text/javascript', gunzipSync(script), {}, script)],
  ]);
  return {
    name: 'documents',
    answer(exchange) {
      const document = documents.get(exchange.path);
      return document && (() => answered(exchange, document));
    },
  };
}

const cacheSeconds = 300;

function fixed(
  type: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
  packed = gzipSync(body),
): HttpAnswer {
  return {
    status: 200,
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': `public, max-age=${cacheSeconds}`,
      'x-content-type-options': 'nosniff',
      ...headers,
    },
    body,
    packed,
  };
}

async function answered(
  { request, response }: Exchange,
  document: HttpAnswer,
): Promise<HttpAnswer> {
  const allow = 'GET, HEAD, OPTIONS';
  fromAnySite(response);
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      return document;
    case 'OPTIONS':
      return { status: 204, headers: { allow, ...preflightHeaders('GET') }, body: '' };
    default:
      throw new Refusal(405, 'method_not_allowed', 'Method not allowed', { allow });
  }
}
