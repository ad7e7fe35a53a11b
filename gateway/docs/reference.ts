import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { contentSecurityPolicy } from '#lib/html/content-security-policy.ts';
import { staticFile } from '../static/file.ts';
import type { DocsPage } from './page.ts';

// Vendored: see the README beside it.
const packed = readFileSync(join(import.meta.dirname, 'scalar/standalone.js.gz'));

/**
 * Colours with the contrast that WCAG asks for, which some of Scalar's lack. Its list of languages has a
 * button without a name; each request has one of its own.
 */
const styles = `
.light-mode {
  --scalar-color-2: #545b64; --scalar-color-3: #5f6670;
  --scalar-color-blue: #0b5cad; --scalar-color-green: #0b6b45; --scalar-color-orange: #9a4a00;
  --scalar-color-red: #b42318; --scalar-color-purple: #6d28d9; --scalar-color-yellow: #7a5c00;
  --scalar-color-accent: #0b5cad;
}
.dark-mode {
  --scalar-color-2: #b7bec7; --scalar-color-3: #a3abb5;
  --scalar-color-blue: #6cb6ff; --scalar-color-green: #4ccf8f; --scalar-color-orange: #ffae6b;
  --scalar-color-red: #ff9a92; --scalar-color-purple: #c3a6ff; --scalar-color-yellow: #f0cf6b;
  --scalar-color-accent: #6cb6ff;
}
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
