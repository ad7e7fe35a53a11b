import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openBrowser, openDocs } from '../test/contract/chromium.ts';
import { samplePages, startSampleGateway } from './sample-gateway.ts';

/**
 * Writes docs/screens/<what>-<width>.png: what people see at /docs, behind the links of mails, and
 * of broadcasts. With an argument, such as `/tmp/screens ja dark`, into another folder, in another
 * language and colour scheme.
 */
const [given = resolve(import.meta.dirname, '../docs/screens'), language = 'en', scheme = 'light'] =
  process.argv.slice(2);
const folder = resolve(given);
const colorScheme = scheme === 'dark' ? 'dark' : 'light';
const widths = [1280, 390];

mkdirSync(folder, { recursive: true });
const gateway = await startSampleGateway(language);
const browser = await openBrowser();
for (const width of widths) {
  const docs = await openDocs(browser, gateway.url, width);
  await docs.screenshot({ path: join(folder, `docs-${width}.png`) });
  const operation = docs.getByRole('heading', { name: 'Create list' }).first();
  await docs.goto(`${gateway.url}/docs#tag/lists/POST/api/lists.create`);
  await operation.waitFor();
  await operation.scrollIntoViewIfNeeded();
  await docs.screenshot({ path: join(folder, `operation-${width}.png`) });
  const page = await browser.newPage({ viewport: { width, height: 720 }, colorScheme });
  for (const { name, path } of samplePages) {
    await page.goto(`${gateway.url}${path}`);
    await page.screenshot({ path: join(folder, `${name}-${width}.png`), fullPage: true });
  }
  await page.goto('about:blank');
  await page.setContent(
    `<form method="post" action="${gateway.url}/subscribe"><button>Sign up</button></form>`,
  );
  await page.getByRole('button').click();
  await page.getByRole('checkbox').waitFor();
  await page.screenshot({ path: join(folder, `form-proof-${width}.png`), fullPage: true });
}
await browser.close();
await gateway.stop();
