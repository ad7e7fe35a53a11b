import { BroadcastPageService } from '#gen/postrider/broadcasts/v1/page_pb.ts';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { SubscriptionService } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { DomainTestPageService } from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import { MessageLinkService, WebVersionService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { DomainPageService } from '#gen/postrider/workspaces/v1/domains_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { startGateway, startService } from '../gateway/testing.ts';
import { samplePage } from './broadcast-sample.ts';
import { sampleDomain, sampleTest } from './domain-sample.ts';
import { siteFolder } from './guide/site-folder.ts';

const { ACTIVE, PENDING, UNSUBSCRIBED, BOUNCED } = MembershipStatus;

/** The pages behind the links of mails and broadcasts, of `startSampleGateway`. */
export const samplePages = [
  { name: 'unsubscribe', path: '/u/acme/member' },
  { name: 'confirm', path: '/c/acme/asked' },
  { name: 'preferences', path: '/p/acme/member' },
  { name: 'web-version', path: '/w/acme/kept' },
  { name: 'web-version-gone', path: '/w/acme/gone' },
  { name: 'broadcast-page', path: '/broadcasts/finished?token=any' },
  { name: 'broadcast-page-running', path: '/broadcasts/running?token=any' },
  { name: 'domain-page', path: '/domains/any' },
];

/** Data for a reader's pages, with names as long as they come. */
const subscriptions = [
  { listId: 'weekly', listName: 'The Weekly', description: 'What we found, every Friday morning' },
  { listId: 'events', listName: 'Workshops, talks and open evenings in Paris, Lyon and Marseille' },
  { listId: 'offers', listName: 'Offers', status: UNSUBSCRIBED, description: 'Once a month' },
  { listId: 'beta', listName: 'Beta testers', status: PENDING },
  { listId: 'jobs', listName: 'Jobs', status: BOUNCED },
].map((each) => ({ status: ACTIVE, description: '', ...each }));
const reader = { timezone: 'Europe/Paris', workspaceName: 'Acme Gazette' };
const linksIn = (language: string) =>
  new Map([
    ['member', { ...reader, language, listId: 'weekly', listName: 'The Weekly', subscriptions }],
    ['asked', { ...reader, language, listId: 'beta', listName: 'Beta testers', subscriptions }],
  ]);
/** A mail of plain text. */
const sampleMail = {
  isKept: true,
  subject: 'The Weekly',
  text: `Hello Ann,\n\nthe workshops of this autumn are open:\nhttps://gazette.example/workshops\n\n${'We look forward to seeing you. '.repeat(9)}`,
};

/** A gateway with the guide of this clone, whose pages have data and need no stack. */
export async function startSampleGateway(language: string) {
  const links = linksIn(language);
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
  const gateway = await startGateway(service.port, { guideFolder: siteFolder });
  return {
    url: gateway.url,
    async stop() {
      await gateway.stop();
      await service.stop();
    },
  };
}
