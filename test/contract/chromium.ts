import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const program = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const hasChromium = existsSync(program);

/** Tests in a browser are skipped without one. */
export const noChromium = `No browser is at ${program}, so the tests in one are skipped. Install Chromium (on Debian: apt-get install chromium), or set CHROMIUM to the program of a Chromium or Chrome that is there.`;

export function openBrowser(): Promise<Browser> {
  // Root in a container has no rights for the sandbox; the page is our own.
  return chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
}

/** Opens the reference, and resolves when it shows the expected operation. */
export async function openDocs(browser: Browser, url: string, width: number): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  await page.goto(`${url}/docs`);
  await page.getByRole('heading', { name: 'Postrider API' }).waitFor();
  return page;
}
