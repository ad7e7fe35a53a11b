import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const program = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const hasChromium = existsSync(program);

export function openBrowser(): Promise<Browser> {
  // The sandbox needs rights that root in a container has not; the page is our own.
  return chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
}

/** Opens the reference, and resolves when it shows what it was asked to. */
export async function openDocs(browser: Browser, url: string, width: number): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  await page.goto(`${url}/docs`);
  await page.getByRole('heading', { name: 'Postrider API' }).waitFor();
  return page;
}
