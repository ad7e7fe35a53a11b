import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { TemplateService } from '#gen/postrider/templates/v1/templates_pb.ts';
import { GetSettingsResponseSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import {
  startGateway,
  startService,
  type TestGateway,
  type TestService,
  tokenFor,
} from '../../gateway/testing.ts';
import { createCompiler } from '../../services/templates/compile/compiler.ts';
import type { Context } from '../../services/templates/context.ts';
import { compileTemplate } from '../../services/templates/operations/compile-template.ts';
import { warmUp } from '../../services/templates/test/given.ts';
import { hasChromium, openBrowser } from './chromium.ts';

const inChromium = hasChromium ? test : test.skip;

const compiler = createCompiler();
let service: TestService;
let gateway: TestGateway;
let browser: Browser | undefined;
beforeAll(async () => {
  const getSettings = async () =>
    create(GetSettingsResponseSchema, {
      settings: { defaultLanguage: 'en', customEndpointUrl: 'https://mail.example' },
    });
  const context = { compiler, workspaces: { getSettings } } as unknown as Context;
  service = await startService((router) => {
    router.service(TemplateService, { compileTemplate: compileTemplate(context) });
  });
  gateway = await startGateway(service.port);
  if (hasChromium) browser = await openBrowser();
  await warmUp(compiler);
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await gateway.stop();
  await service.stop();
  await compiler.close();
});

/** Opens the page, with what it complains of. */
async function opened(
  width: number,
): Promise<{ page: Page; complaints: string[]; asked: string[] }> {
  const complaints: string[] = [];
  const asked: string[] = [];
  const context = await browser!.newContext({ viewport: { width, height: 900 } });
  context.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  context.on('request', (request) => asked.push(request.url()));
  const page = await context.newPage();
  await page.goto(`${gateway.url}/docs/preview`);
  await page.getByLabel('Workspace id').fill('acme');
  await page.getByLabel('API key or token').fill(await tokenFor('user-1'));
  return { page, complaints, asked };
}

const show = (page: Page) => page.getByRole('button', { name: 'Show the mail' }).click();

inChromium.each([390, 1280])(
  'at %i px the page shows the mail with its subject, warnings, links and text',
  async (width) => {
    const { page } = await opened(width);
    await show(page);
    await page.frameLocator('#mail').getByText('Hello Ann').waitFor();
    await page.getByRole('heading', { name: 'Your order 7' }).waitFor();
    const links = await page.locator('#links').textContent();
    expect(links).toContain('Your order: https://example.com/orders/7 (tracked)');
    expect(links).toContain('Unsubscribe: https://mail.example/u/acme/preview');
    expect(await page.locator('#text').textContent()).toContain('Thank you for your large order.');
    expect(await page.locator('#warnings').textContent()).toBe('None.');
    await page.getByRole('button', { name: '1280 px' }).click();
    expect(await page.locator('#mail').getAttribute('width')).toBe('1280');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    if (process.env.SCREENS)
      await page.screenshot({
        path: `${process.env.SCREENS}/preview-${width}.png`,
        fullPage: true,
      });
  },
  60_000,
);

inChromium(
  'a mail cannot run scripts, and a mistake shows its error',
  async () => {
    const { page, asked } = await opened(1280);
    const evil = `<script>parent.document.title = 'broken'; document.title = 'x'</script>
      <img src="x" onerror="parent.document.title = 'broken'"><a href="javascript:parent.document.title = 'broken'">go</a>
      <form action="https://evil.example/"><button>send</button></form>`;
    const mjml = `<mjml><mj-body><mj-section><mj-column><mj-text>${evil}</mj-text><mj-text>end {{ contact.x }}</mj-text></mj-column></mj-section></mj-body></mjml>`;
    await page.getByLabel('MJML with Liquid').fill(mjml);
    await page.getByLabel('Contact (JSON)').fill('{"x": "<script>1</script>"}');
    await page.getByLabel('Subject').fill('<img src=x onerror="document.title = 1">');
    await show(page);
    const mail = page.frameLocator('#mail');
    await mail.getByText('end <script>').waitFor();
    await mail.getByText('go').click();
    await mail.getByText('send').click();
    expect(await page.title()).toBe('Preview a mail');
    expect(asked.filter((url) => url.includes('evil'))).toEqual([]);
    await page.getByLabel('MJML with Liquid').fill('<mjml>{{ a | nope }}</mjml>');
    await show(page);
    await page.getByText('undefined filter: nope').waitFor();
    await page.getByLabel('Test data (JSON)').fill('{');
    await show(page);
    await page.getByText('test_data is not JSON').waitFor();
  },
  60_000,
);

inChromium(
  'the page of Liquid fits a phone',
  async () => {
    const page = await browser!.newPage({ viewport: { width: 390, height: 900 } });
    await page.goto(`${gateway.url}/docs/liquid`);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    if (process.env.SCREENS) {
      await page.screenshot({ path: `${process.env.SCREENS}/liquid-390.png` });
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.screenshot({ path: `${process.env.SCREENS}/liquid-1280.png`, fullPage: true });
    }
  },
  60_000,
);
