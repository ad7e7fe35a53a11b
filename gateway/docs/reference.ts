import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { contentSecurityPolicy } from '#lib/html/content-security-policy.ts';
import { colours } from '#lib/html/palette.ts';
import { staticFile } from '../static/file.ts';
import type { DocsPage } from './page.ts';

// Vendored: see the README beside it.
const packed = readFileSync(join(import.meta.dirname, 'scalar/standalone.js.gz'));

/** Scalar's names of our colours, since some of its own lack the contrast that WCAG asks for. */
const names = {
  'color-2': 'quiet',
  'color-3': 'quiet',
  'color-accent': 'accent',
  'color-blue': 'accent',
  'color-green': 'good',
  'color-orange': 'warn',
  'color-purple': 'accent',
  'color-red': 'bad',
  'color-yellow': 'warn',
} as const;
const coloursAt = (at: 0 | 1) =>
  Object.entries(names)
    .map(([name, ours]) => `--scalar-${name}: ${colours[ours][at]};`)
    .join(' ');
// Its list of languages has a button without a name; each request has a list of its own.
const styles = `.light-mode { ${coloursAt(0)} }
.dark-mode { ${coloursAt(1)} }
.introduction-card-item:has(> .client-libraries-list) { display: none !important; }
`;

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
  customCss: styles,
};

const scalar = staticFile('scalar.js', gunzipSync(packed), packed);
const start = staticFile(
  'reference.js',
  `Scalar.createApiReference('#app', ${JSON.stringify(settings)});
// Scalar's buttons that copy show an icon alone.
new MutationObserver(() => {
  const nameless = 'button:is(.code-copy, [class*="copy-button"]):not([aria-label])';
  for (const button of document.querySelectorAll(nameless)) button.setAttribute('aria-label', 'Copy');
}).observe(document.body, { childList: true, subtree: true });
`,
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
