import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BroadcastPageService } from '#gen/postrider/broadcasts/v1/page_pb.ts';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { SubscriptionService } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { DomainTestPageService } from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import { MessageLinkService, WebVersionService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { DomainPageService } from '#gen/postrider/workspaces/v1/domains_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { startGateway, startService } from '../gateway/testing.ts';
import { openBrowser, openDocs } from '../test/contract/chromium.ts';
import { samplePage } from './broadcast-sample.ts';
import { sampleDomain, sampleTest } from './domain-sample.ts';

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
const { ACTIVE, PENDING, UNSUBSCRIBED, BOUNCED } = MembershipStatus;

/** Data for a reader's pages, with names as long as they come. */
const subscriptions = [
  { listId: 'weekly', listName: 'The Weekly', description: 'What we found, every Friday morning' },
  { listId: 'events', listName: 'Workshops, talks and open evenings in Paris, Lyon and Marseille' },
  { listId: 'offers', listName: 'Offers', status: UNSUBSCRIBED, description: 'Once a month' },
  { listId: 'beta', listName: 'Beta testers', status: PENDING },
  { listId: 'jobs', listName: 'Jobs', status: BOUNCED },
].map((each) => ({ status: ACTIVE, description: '', ...each }));
const reader = { language, timezone: 'Europe/Paris', workspaceName: 'Acme Gazette' };
const links = new Map([
  ['member', { ...reader, listId: 'weekly', listName: 'The Weekly', subscriptions }],
  ['asked', { ...reader, listId: 'beta', listName: 'Beta testers', subscriptions }],
]);
/** A mail of plain text. */
const sampleMail = {
  isKept: true,
  subject: 'The Weekly',
  text: `Hello Ann,\n\nthe workshops of this autumn are open:\nhttps://gazette.example/workshops\n\n${'We look forward to seeing you. '.repeat(9)}`,
};
const pages = [
  { name: 'unsubscribe', path: '/u/acme/member' },
  { name: 'confirm', path: '/c/acme/asked' },
  { name: 'preferences', path: '/p/acme/member' },
  { name: 'web-version', path: '/w/acme/kept' },
  { name: 'web-version-gone', path: '/w/acme/gone' },
  { name: 'broadcast-page', path: '/broadcasts/finished?token=any' },
  { name: 'broadcast-page-running', path: '/broadcasts/running?token=any' },
  { name: 'domain-page', path: '/domains/any' },
];

mkdirSync(folder, { recursive: true });
const service = await startService((router) => {
  router.service(MessageLinkService, {
    getLink: ({ token }) => links.get(token) ?? {},
    unsubscribeByLink: () => ({}),
    updateByLink: () => ({}),
  });
  router.service(WebVersionService, {
    getWebVersion: ({ token }) => (token === 'kept' ? sampleMail : {}),
  });
  router.service(SubscriptionService, {
    subscribe() {
      throw invalidField('altcha', 'altcha is required');
    },
  });
  router.service(DomainPageService, { getDomainPage: sampleDomain });
  router.service(DomainTestPageService, { getNewestDomainTest: sampleTest });
  router.service(BroadcastPageService, {
    getBroadcastPage: ({ id }) => samplePage(id === 'running' ? 'running' : 'finished'),
  });
});
const gateway = await startGateway(service.port);
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
  for (const { name, path } of pages) {
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
await service.stop();
