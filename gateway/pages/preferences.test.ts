import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import {
  type GetLinkResponseSchema,
  MessageLinkService,
  type UpdateByLinkRequest,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { startGateway, startService, type TestGateway, type TestService } from '../testing.ts';

type Link = MessageInitShape<typeof GetLinkResponseSchema>;

const subscriptions = [
  {
    listId: 'weekly',
    listName: 'Weekly',
    description: 'Every <Monday>',
    status: MembershipStatus.ACTIVE,
  },
  { listId: 'daily', listName: 'Daily', status: MembershipStatus.UNSUBSCRIBED },
  { listId: 'offers', listName: 'Offers', status: MembershipStatus.PENDING },
  { listId: 'dead', listName: 'Dead', status: MembershipStatus.BOUNCED },
];

let service: TestService;
let gateway: TestGateway;
let link: Link;
let updates: UpdateByLinkRequest[];
let confirmed: string[];

beforeAll(async () => {
  service = await startService((router) => {
    router.service(MessageLinkService, {
      getLink: ({ token }) => {
        if (token === 'down') throw new ConnectError('no database', Code.Unavailable);
        return link;
      },
      updateByLink: (request) => {
        updates.push(request);
        if (request.language) link = { ...link, language: request.language };
        return {};
      },
      confirmByLink: ({ token }) => {
        if (token === 'old')
          throw new ConnectError('the link has expired', Code.FailedPrecondition);
        confirmed.push(token);
        return {};
      },
    });
  });
  gateway = await startGateway(service.port);
});

beforeEach(() => {
  updates = [];
  confirmed = [];
  link = {
    listId: 'offers',
    listName: 'Offers',
    language: 'fr-CA',
    timezone: 'Europe/Paris',
    workspaceName: 'Acme',
    subscriptions,
  };
});

afterAll(async () => {
  await gateway.stop();
  await service.stop();
});

async function open(path: string): Promise<string> {
  return (await fetch(`${gateway.url}${path}`)).text();
}

function post(path: string, fields: [string, string][] = []) {
  return fetch(`${gateway.url}${path}`, { method: 'POST', body: new URLSearchParams(fields) });
}

const shown: [string, string][] = subscriptions.map(({ listId }) => ['shown', listId]);
const unchanged: [string, string][] = [
  ['language', 'fr-CA'],
  ['timezone', 'Europe/Paris'],
  ['action', 'save'],
];

test('the preferences show lists, language and zone as they are, escaped, and change nothing', async () => {
  const html = await open('/p/w1/t');
  expect(html).toContain('<html lang="fr">');
  expect(html).toMatch(/value="weekly" checked><span>Weekly<small>Every &lt;Monday&gt;/);
  expect(html).toMatch(/value="daily"><span>Daily</);
  expect(html).toMatch(/value="offers"><span>Offers<small>en attente/);
  expect(html).toMatch(/value="dead" disabled>/);
  expect(html).toContain('<option value="fr-CA" selected>Français</option>');
  expect(html).toContain('<option value="Europe/Paris" selected>Europe/Paris</option>');
  expect(html).not.toContain('<script');
  expect(updates).toEqual([]);
});

test('saving sends only the changes', async () => {
  const chosen: [string, string][] = [
    ['list', 'daily'],
    ['list', 'dead'],
    ['list', 'unknown'],
  ];
  const response = await post('/p/w1/t', [...shown, ...chosen, ...unchanged]);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('Vos modifications sont enregistrées.');
  expect(updates).toHaveLength(1);
  expect(updates[0]).toMatchObject({
    workspaceId: 'w1',
    token: 't',
    subscribeListIds: ['daily'],
    unsubscribeListIds: ['weekly'],
    unsubscribeAll: false,
  });
  expect(updates[0]?.language).toBeUndefined();
  expect(updates[0]?.timezone).toBeUndefined();
});

test('saving changes language and zone, and the page is in the new language', async () => {
  const fields: [string, string][] = [
    ['language', 'de'],
    ['timezone', ''],
    ['action', 'save'],
  ];
  const response = await post('/p/w1/t', [...shown, ['list', 'weekly'], ...fields]);
  expect(updates[0]).toMatchObject({ language: 'de', timezone: '', unsubscribeListIds: [] });
  const html = await response.text();
  expect(html).toContain('<html lang="de">');
  expect(html).toContain('Ihre Änderungen sind gespeichert.');
});

test('a list that the form did not show stays as it is', async () => {
  await post('/p/w1/t', [['shown', 'daily'], ...unchanged]);
  expect(updates[0]).toMatchObject({ subscribeListIds: [], unsubscribeListIds: [] });
});

test('one button unsubscribes from everything', async () => {
  const response = await post('/p/w1/t', [...shown, ['list', 'daily'], ['action', 'leave']]);
  expect(await response.text()).toContain('Vous êtes désinscrit de tout.');
  expect(updates[0]).toMatchObject({ unsubscribeAll: true, subscribeListIds: [] });
});

test('the preferences of a deleted contact have no lists to choose from', async () => {
  link = { workspaceName: 'Acme', language: 'en' };
  expect(await open('/p/w1/t')).toContain('There is nothing to choose from.');
});

test('preferences that cannot be loaded are a 503 page', async () => {
  expect((await fetch(`${gateway.url}/p/w1/down`)).status).toBe(503);
  expect((await post('/p/w1/down', shown)).status).toBe(503);
  expect(updates).toEqual([]);
});

test('opening the confirmation changes nothing and shows a button', async () => {
  const html = await open('/c/w1/t');
  expect(html).toContain('Voulez-vous recevoir les e-mails de « Offers » ?');
  expect(html).toContain('<form method="post"><button type="submit">Oui, je m’inscris');
  expect(confirmed).toEqual([]);
});

test('the button confirms, also when pressed again', async () => {
  for (const _ of [1, 2]) {
    const response = await post('/c/w1/t');
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('<h1>Vous êtes inscrit</h1>');
  }
  expect(confirmed).toEqual(['t', 't']);
});

test('the page of a confirmed subscription says so', async () => {
  link = { ...link, listId: 'weekly', listName: 'Weekly', expired: true };
  expect(await open('/c/w1/t')).toContain('<h1>Vous êtes inscrit</h1>');
});

test('the page of an expired confirmation says what to do', async () => {
  link = { ...link, expired: true };
  expect(await open('/c/w1/old')).toContain('<h1>Ce lien a expiré</h1>');
  const late = await post('/c/w1/old');
  expect(late.status).toBe(200);
  expect(await late.text()).toContain('Ce lien a expiré');
});

test('a contact of no list may leave all mail, where the mail was to segments alone', async () => {
  link = { ...link, language: 'en', subscriptions: [] };
  const page = async (init?: RequestInit) =>
    (await fetch(`${gateway.url}/p/w1/token-1`, init)).text();
  expect(await page()).not.toContain('<button');
  link = { ...link, leavesAll: true };
  expect(await page()).toContain('Unsubscribe from everything</button>');
  const left = await page({ method: 'POST', body: new URLSearchParams({ action: 'leave' }) });
  expect(left).toContain('You are unsubscribed from everything.');
  expect(updates).toMatchObject([{ unsubscribeAll: true }]);
});
