import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasChromium, noChromium } from '../test/contract/chromium.ts';
import { siteFolder } from './guide/site-folder.ts';
import { samplePages, startSampleGateway } from './sample-gateway.ts';

/**
 * `npm run accessibility`: Lighthouse's score of the guide, `/docs` and the pages behind links, on
 * light and dark screens, and what costs points. Fails below 95. It needs Chromium and a guide that
 * is built, and gets Lighthouse by npm, since it would be the largest dependency of all.
 */
const least = 95;
const lighthouse = 'lighthouse@13.5.0';
const guidePages = ['', 'guides/', 'guides/transactional.html', 'reference/operations/lists.html'];
const docsPages = ['', '/liquid', '/preview', '/errors', '/events', '/limits', '/variables'];
const paths = [
  '/',
  ...guidePages.map((page) => `/guide/${page}`),
  ...docsPages.map((page) => `/docs${page}`),
  // Lighthouse sees no mail, which stands in a sandbox without scripts, and no page with a 404.
  ...samplePages.map(({ path }) => path).filter((path) => !path.startsWith('/w/')),
];
const schemes = ['light', 'dark'] as const;

if (!hasChromium) throw new Error(noChromium);
if (!existsSync(join(siteFolder, 'index.html'))) throw new Error('build it first: npm run guide');
const gateway = await startSampleGateway('en');
const asked = process.argv.slice(2);
let worst = 100;
for (const path of asked.length > 0 ? asked : paths) {
  for (const scheme of schemes) {
    const url = `${gateway.url}${path}`;
    // On a busy machine a page may take longer to appear than Lighthouse waits.
    const { score, faults } = await scoreOf(url, scheme).catch(() => scoreOf(url, scheme));
    worst = Math.min(worst, score);
    console.log(`${String(score).padStart(3)} ${scheme.padEnd(5)} ${path} ${faults.join('; ')}`);
  }
}
await gateway.stop();
process.exit(worst < least ? 1 : 0);

type Report = {
  categories: { accessibility: { score: number } };
  audits: Record<string, { title: string; score: number | null; scoreDisplayMode: string }>;
};

async function scoreOf(url: string, scheme: (typeof schemes)[number]) {
  const dark = scheme === 'dark' ? ' --force-dark-mode' : '';
  const flags = `--chrome-flags=--headless=new --no-sandbox${dark}`;
  const args = ['exec', '--yes', `--package=${lighthouse}`, '--', 'lighthouse', url, flags];
  const output = ['--only-categories=accessibility', '--output=json', '--quiet'];
  const env = { ...process.env, CHROME_PATH: process.env.CHROMIUM ?? '/usr/bin/chromium' };
  const run = promisify(execFile)('npm', [...args, ...output], {
    env,
    maxBuffer: 64 * 1_024 * 1_024,
  });
  // The error of the process has the whole report in it.
  const { stdout } = await run.catch(({ stderr }) => {
    throw new Error(`${url}: ${stderr}`);
  });
  const { categories, audits }: Report = JSON.parse(stdout);
  const faults = Object.entries(audits)
    .filter(([, { score, scoreDisplayMode }]) => score === 0 && scoreDisplayMode === 'binary')
    .map(([id]) => id);
  return { score: Math.round(categories.accessibility.score * 100), faults };
}
