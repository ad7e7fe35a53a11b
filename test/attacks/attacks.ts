import { unique } from '../stack/given.ts';
import { bodyOf, flood, type Running } from './flood.ts';
import { endlessBodies } from './grpc.ts';
import { startTalker, startTarpit } from './servers.ts';
import { idleSessions, idleSockets, idleStreams, pipelinedGets, rapidResets } from './sockets.ts';
import { act, givenNotification, givenTenant, mailTo, plainMail, type Tenant } from './tenant.ts';
import {
  eventStorm,
  feedsFromSlowNames,
  largeContacts,
  manyBroadcasts,
  silentZone,
  webhooksToSlowNames,
} from './work.ts';

export type Site = { baseUrl: string; owner: string; smtpPort: number };

export type Attack = {
  name: string;
  /** Prepares a tenant of its own, and begins. */
  begin(site: Site): Promise<Running>;
};

const gatewayPort = (baseUrl: string) => Number(new URL(baseUrl).port);
const grpcPort = (baseUrl: string) => gatewayPort(baseUrl) + 6;
const contactsPort = (baseUrl: string) => gatewayPort(baseUrl) + 11;

function contactsFrom(prefix: string, count: number): object[] {
  return Array.from({ length: count }, (_, at) => ({
    email: `${prefix}.${at}@example.com`,
    first_name: `Reader ${at}`,
    custom_json_1: { note: 'x'.repeat(200) },
  }));
}

async function importContacts(tenant: Tenant, count: number): Promise<void> {
  for (let first = 0; first < count; first += 5_000) {
    await act(tenant, 'contacts.import', { contacts: contactsFrom(unique('c'), 5_000) });
  }
}

const mjml = (content: string) =>
  `<mjml><mj-body><mj-section><mj-column><mj-text>${content}</mj-text></mj-column></mj-section></mj-body></mjml>`;
const doubling = (times: number) =>
  `{% assign a = "aaaaaaaaaa," %}${'{% assign a = a | append: a %}'.repeat(times)}`;
const loops = mjml(
  `${doubling(10)}{% assign b = a | split: "," %}{% for x in b %}{% for y in b %}{% for z in b %}{{ x }}{% endfor %}{% endfor %}{% endfor %}`,
);
const filters = mjml(`${doubling(16)}{{ a | split: "," | sort | where_exp: "x", "x > 1" | join }}`);
const quadratic = mjml(`${'<!--'.repeat(50_000)}${'{{'.repeat(50_000)}`);

function compileOf(tenant: Tenant, source: string, connections: number): Running {
  const body = bodyOf({
    workspace_id: tenant.workspaceId,
    message_id: 'm',
    mjml_source: source,
    visual_editor_tree: undefined,
    test_data: { name: 'Ann' },
    channel: 'email',
  });
  return flood(tenant, { connections, request: () => ({ path: '/api/templates.compile', body }) });
}

/** Mails through the tenant's server, from `connections` callers at once. */
async function mailsOf(tenant: Tenant, source: string, connections: number): Promise<Running> {
  const notification = await givenNotification(tenant, { source });
  const prefix = unique('victim');
  return flood(tenant, {
    connections,
    request: (number) => ({
      path: '/api/transactional.send',
      body: bodyOf({
        workspace_id: tenant.workspaceId,
        ...mailTo(`${prefix}.${number}@example.com`, notification),
      }),
    }),
  });
}

async function throughServer(
  site: Site,
  start: typeof startTarpit,
  begin: (tenant: Tenant) => Promise<Running>,
): Promise<Running> {
  const server = await start();
  const running = await begin(await givenTenant(site.baseUrl, { ...site, smtpPort: server.port }));
  return {
    tally: running.tally,
    async stop() {
      await running.stop();
      await server.close();
    },
  };
}

const pathOf = (operation: string, query: Record<string, string>) =>
  `/api/${operation}?${new URLSearchParams(query)}`;

/** Each is by a tenant or an unauthenticated caller. */
export const attacks: readonly Attack[] = [
  {
    name: 'a hot loop of reads',
    async begin(site) {
      const tenant = await givenTenant(site.baseUrl, site);
      const path = pathOf('lists.list', { workspace_id: tenant.workspaceId });
      return flood(tenant, { connections: 64, request: () => ({ path }) });
    },
  },
  {
    name: 'a thousand slow reads',
    async begin(site) {
      const tenant = await givenTenant(site.baseUrl, site);
      await importContacts(tenant, 20_000);
      const path = pathOf('contacts.list', {
        workspace_id: tenant.workspaceId,
        full_name: 'nobody',
        first_name: 'zzz',
      });
      return flood(tenant, { connections: 400, request: () => ({ path }) });
    },
  },
  {
    name: '200 large imports',
    async begin(site) {
      const tenant = await givenTenant(site.baseUrl, site);
      const workspace_id = tenant.workspaceId;
      const bodies = Array.from({ length: 4 }, (_, at) =>
        bodyOf({ workspace_id, contacts: contactsFrom(`i${at}`, 5_000) }),
      );
      return flood(tenant, {
        connections: 16,
        requestsMax: 200,
        request: (number) => ({
          path: '/api/contacts.import',
          body: bodies[number % bodies.length],
        }),
      });
    },
  },
  {
    name: 'template bombs',
    begin: async (site) => compileOf(await givenTenant(site.baseUrl, site), loops, 80),
  },
  {
    name: 'templates that patterns stumble over',
    begin: async (site) => compileOf(await givenTenant(site.baseUrl, site), quadratic, 16),
  },
  {
    name: 'mails that never end to render',
    begin: async (site) => mailsOf(await givenTenant(site.baseUrl, site), filters, 16),
  },
  {
    name: 'ids of 60 KB without a token',
    async begin({ baseUrl }) {
      const contact = { email: 'a@example.com' };
      const body = bodyOf({ workspace_id: 'x'.repeat(60_000), contact, list_ids: ['a'] });
      const anonymous = { baseUrl, token: '' };
      return flood(anonymous, { connections: 45, request: () => ({ path: '/subscribe', body }) });
    },
  },
  {
    name: 'a flood of wrong tokens',
    begin: async ({ baseUrl }) =>
      flood(
        { baseUrl, token: 'wrong' },
        { connections: 64, request: () => ({ path: '/api/lists.list?workspace_id=w' }) },
      ),
  },
  {
    name: '4,096 streams that are idle',
    begin: async ({ baseUrl }) => idleStreams(contactsPort(baseUrl), 4_096),
  },
  {
    name: '1,060 connections that send no body',
    begin: async ({ baseUrl }) => idleSockets(baseUrl, 1_060),
  },
  {
    name: '5,000 idle connections of gRPC',
    begin: async ({ baseUrl }) => idleSessions(grpcPort(baseUrl), 5_000),
  },
  {
    name: 'calls that are cancelled as they begin',
    begin: async ({ baseUrl }) =>
      rapidResets(grpcPort(baseUrl), '/postrider.contacts.v1.ListService/GetLists', 8),
  },
  {
    name: 'pictures with made-up tokens, 60 requests at once on each connection',
    begin: async ({ baseUrl }) =>
      pipelinedGets(gatewayPort(baseUrl), `/t/w/${'A'.repeat(43)}`, { count: 24, each: 60 }),
  },
  {
    name: 'a mail server that never answers',
    begin: (site) => throughServer(site, startTarpit, (tenant) => mailsOf(tenant, plainMail, 12)),
  },
  {
    name: 'a mail server of many words',
    begin: (site) => throughServer(site, startTalker, (tenant) => mailsOf(tenant, plainMail, 12)),
  },
  {
    name: 'large pages',
    async begin(site) {
      const tenant = await givenTenant(site.baseUrl, site);
      for (let each = 0; each < 10; each += 1) {
        await givenNotification(tenant, { source: mjml('x'.repeat(400_000)) });
      }
      const path = pathOf('templates.list', { workspace_id: tenant.workspaceId });
      return flood(tenant, { connections: 120, request: () => ({ path }) });
    },
  },
  {
    name: '100 gRPC messages of 15 MiB that never end',
    async begin(site) {
      const { token } = await givenTenant(site.baseUrl, site);
      return endlessBodies(grpcPort(site.baseUrl), { token, count: 100, bytes: 15 * 1024 * 1024 });
    },
  },
  {
    name: 'imports of large contacts',
    begin: async (site) => largeContacts(await givenTenant(site.baseUrl, site)),
  },
];

/**
 * For a stack of their own: they leave work for minutes, or need a DNS server that does not answer
 * the names of `silentZone`.
 */
export const heavyAttacks: readonly Attack[] = [
  {
    name: 'imports for 100 webhooks and 50 segments',
    begin: async (site) => eventStorm(await givenTenant(site.baseUrl, site)),
  },
  {
    name: '60 broadcasts at once',
    begin: async (site) => manyBroadcasts(await givenTenant(site.baseUrl, site), 60),
  },
  {
    name: 'mail servers whose names are never answered',
    async begin(site) {
      const tenants = [];
      for (let each = 0; each < 3; each += 1) {
        const smtpHost = `${unique('mx')}.${silentZone}`;
        tenants.push(await givenTenant(site.baseUrl, { ...site, smtpHost }));
      }
      const running = await Promise.all(tenants.map((tenant) => mailsOf(tenant, plainMail, 7)));
      return {
        tally: running[0]?.tally ?? new Map(),
        async stop() {
          await Promise.all(running.map((each) => each.stop()));
        },
      };
    },
  },
  {
    name: 'webhooks whose names are never answered',
    begin: async (site) => webhooksToSlowNames(await givenTenant(site.baseUrl, site)),
  },
  {
    name: 'feeds whose names are never answered',
    begin: async (site) => feedsFromSlowNames(await givenTenant(site.baseUrl, site)),
  },
];
