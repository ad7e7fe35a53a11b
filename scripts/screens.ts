import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startGateway } from '../gateway/testing.ts';
import { openBrowser, openDocs } from '../test/contract/chromium.ts';

/** Writes docs/screens/docs-<width>.png and docs/screens/operation-<width>.png: what people see at /docs. */
const folder = resolve(import.meta.dirname, '../docs/screens');
const widths = [1280, 390];

mkdirSync(folder, { recursive: true });
const gateway = await startGateway(1);
const browser = await openBrowser();
for (const width of widths) {
  const page = await openDocs(browser, gateway.url, width);
  await page.screenshot({ path: join(folder, `docs-${width}.png`) });
  const operation = page.getByRole('heading', { name: 'Create list' }).first();
  await page.goto(`${gateway.url}/docs#tag/lists/POST/api/lists.create`);
  await operation.waitFor();
  await operation.scrollIntoViewIfNeeded();
  await page.screenshot({ path: join(folder, `operation-${width}.png`) });
}
await browser.close();
await gateway.stop();
