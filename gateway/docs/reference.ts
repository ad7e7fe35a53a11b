import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { contentSecurityPolicy } from '#lib/html/content-security-policy.ts';
import { staticFile } from '../static/file.ts';
import type { DocsPage } from './page.ts';

// Vendored: see the README beside it.
const packed = readFileSync(join(import.meta.dirname, 'scalar/standalone.js.gz'));

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

const scalar = staticFile('scalar.js', gunzipSync(packed), packed);
const start = staticFile(
  'reference.js',
  `Scalar.createApiReference('#app', ${JSON.stringify(settings)});\n`,
);

export const referenceFiles = [scalar, start];

/** The page that shows the OpenAPI document. */
export const referencePage: DocsPage = {
  text: `<!doctype html>
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
<script src="${scalar.path}"></script>
<script src="${start.path}"></script>
</body>
</html>
`,
  policy: contentSecurityPolicy({
    scripts: "'self'",
    // Scalar writes styles while it runs.
    style: "'unsafe-inline'",
    images: ["'self'", 'data:'],
    fonts: ["'self'", 'data:'],
    requests: "'self'",
  }),
};
