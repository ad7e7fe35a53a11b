import { html } from '#lib/html/template.ts';
import { ratesDefault } from '#lib/limits/request-limits.ts';
import { resourceNames, resources } from '#lib/quotas/resources.ts';
import { messageMaxBytes, publicMessageMaxBytes } from '#lib/rpc/wire.ts';
import { limitsDefault, placesDefault } from '../admission/limits.ts';
import { bodyDefaultBytes, type Route } from '../api/routes.ts';
import { type DocsPage, docsPage, quoted, type Table, table } from './page.ts';

/**
 * A limit that a service keeps. `source` names the constant; test/limits.test.ts compares the
 * value.
 */
export type ServiceLimit = { about: string; value: number; unit: string; source: string };

const KiB = 1_024;
const MiB = 1_024 * KiB;
const minute = 60_000;

const limit = (about: string, value: number, unit: string, source: string): ServiceLimit => ({
  about,
  value,
  unit,
  source,
});

/** By what they are about. */
export const serviceLimits: readonly [heading: string, rows: readonly ServiceLimit[]][] = [
  [
    'A workspace has at most',
    [
      limit(
        'Integrations',
        100,
        '',
        'services/workspaces/operations/create-integration.ts integrationsMax',
      ),
      limit('Domains', 100, '', 'services/workspaces/domains/domain.ts domainsMax'),
      limit('API keys', 1_000, '', 'services/workspaces/keys/api-key.ts keysMax'),
      limit(
        'Open invitations',
        100,
        '',
        'services/workspaces/operations/invite-member.ts invitationsMax',
      ),
    ],
  ],
  [
    'Contacts and segments',
    [
      limit(
        'A JSON field of a contact',
        64 * KiB,
        'bytes',
        'services/contacts/contact/values.ts jsonMaxBytes',
      ),
      limit(
        'Conditions of a segment',
        50,
        '',
        'services/contacts/segments/tree/read-tree.ts nodesMax',
      ),
      limit('Levels of a segment', 8, '', 'services/contacts/segments/tree/read-tree.ts levelsMax'),
      limit(
        'Values of a condition',
        100,
        '',
        'services/contacts/segments/tree/read-filter.ts valuesMax',
      ),
    ],
  ],
  [
    'Templates and mails',
    [
      limit(
        'Pause of a workspace for each MiB of pages of templates or blocks above 256 KiB',
        80,
        'ms',
        'services/templates/pages/large-reads.ts paceMsPerMiB',
      ),
      limit(
        'The source of a template',
        500 * KiB,
        'bytes',
        'services/templates/compile/compiler.ts sourceMaxBytes',
      ),
      limit('A block', 256 * KiB, 'bytes', 'services/templates/compile/block.ts blockMaxBytes'),
      limit(
        'A part of a mail, as rendered',
        MiB,
        'bytes',
        'services/messages/render/budget.ts partMaxBytes',
      ),
      limit('The answer of a data feed', MiB, 'bytes', 'lib/outside/feed.ts feedSizeMaxBytes'),
      limit(
        'Attachments of a transactional mail',
        20,
        '',
        'services/messages/transactional/files.ts filesMax',
      ),
      limit(
        'One of them',
        3 * MiB,
        'bytes',
        'services/messages/transactional/files.ts fileMaxBytes',
      ),
      limit(
        'All of them',
        10 * MiB,
        'bytes',
        'services/messages/transactional/files.ts filesMaxBytes',
      ),
      limit(
        'Data of a transactional mail',
        256 * KiB,
        'bytes',
        'services/messages/transactional/input.ts dataMaxBytes',
      ),
      limit(
        'HTML, or text, of a transactional mail with content of its own',
        1 * MiB,
        'bytes',
        'services/messages/transactional/raw-content.ts partMaxBytes',
      ),
      limit(
        'Recipients in cc and bcc',
        50,
        '',
        'services/messages/transactional/input.ts copiesMax',
      ),
      limit(
        'Headers of a transactional mail',
        20,
        '',
        'services/messages/transactional/header-texts.ts headersMax',
      ),
      limit(
        'Its `send_at`, ahead',
        30 * 24 * 60 * minute,
        'ms',
        'services/messages/transactional/input.ts sendAtMaxMs',
      ),
      limit(
        'Connections to one mail server, from one process',
        200,
        '',
        'services/messages/providers/smtp/pool.ts connectionsMax',
      ),
    ],
  ],
  [
    'Webhooks',
    [
      limit(
        'A payload',
        256 * KiB,
        'bytes',
        'services/webhooks/matching/deliveries.ts payloadMaxBytes',
      ),
      limit(
        'Pending deliveries of a subscription, or `WEBHOOKS_PENDING_MAX`; beyond it the oldest fail',
        100_000,
        '',
        'services/webhooks/config.ts pendingMax',
      ),
      limit('Attempts of a delivery', 10, '', 'services/webhooks/delivery.ts attemptsMax'),
      limit(
        'Deliveries that one call redelivers',
        10_000,
        '',
        'services/webhooks/operations/redeliver-webhooks.ts redeliveredMax',
      ),
    ],
  ],
  [
    'Subscribing and signing in',
    [
      limit(
        'Subscriptions of one address, in a minute',
        10,
        '',
        'services/contacts/subscription/limits.ts perAddressMax',
      ),
      limit(
        'From one client, in a minute',
        50,
        '',
        'services/contacts/subscription/limits.ts perClientMax',
      ),
      limit(
        'To one list, in a minute',
        1_000,
        '',
        'services/contacts/subscription/limits.ts perListMax',
      ),
      limit(
        'Failed root sign-ins of one address, in five minutes; `ROOT_SIGN_INS_MAX` limits successful ones',
        5,
        '',
        'services/workspaces/operations/sign-in-root.ts failuresMax',
      ),
      limit(
        'Sign-in codes for one address, asked for by one client in five minutes',
        5,
        '',
        'services/workspaces/sign-in/limits.ts codesMax',
      ),
      limit('In a day', 10, '', 'services/workspaces/sign-in/limits.ts codesOfDayMax'),
      limit(
        'Asked for by all clients in five minutes',
        20,
        '',
        'services/workspaces/sign-in/limits.ts allCodesMax',
      ),
      limit('In a day', 60, '', 'services/workspaces/sign-in/limits.ts allCodesOfDayMax'),
      limit(
        'Tries of a code by the client that asked for it',
        5,
        '',
        'services/workspaces/sign-in/code.ts triesMax',
      ),
      limit(
        'Tries of a code by all other clients',
        3,
        '',
        'services/workspaces/sign-in/code.ts otherTriesMax',
      ),
      limit(
        'Sign-in attempts of one client, in five minutes',
        50,
        '',
        'services/workspaces/sign-in/limits.ts attemptsOfClientMax',
      ),
    ],
  ],
];

export function limitsPage(routes: ReadonlyMap<string, readonly Route[]>): DocsPage {
  return docsPage(
    'Limits',
    html`<p>What is beyond a limit is refused with an answer that names it. Limits of single fields, such as the length of a name, are in the
<a href="/docs">reference</a>, with their operations.</p>
<h2>Requests</h2>
<p>An operator sets the rates by <a href="/docs/variables">variables</a>; these are the defaults. Beyond a rate the answer is 429 with
<code>Retry-After</code> and <code>RateLimit</code>.</p>
${table(requestLimits(routes))}
<h2>Quotas of a workspace</h2>
<p>An operator sets others for all workspaces by <code>QUOTAS</code>, or for one by <code>workspaces.setQuotas</code>.
<code>workspaces.usage</code> says how much is used. A refusal is 429 with the reason <code>QUOTA_EXCEEDED</code>, and says how much there is.</p>
${table(quotasTable())}
${serviceLimits.map(([heading, rows]) => html`<h2>${heading}</h2>\n${table(limitsTable(rows))}`)}`,
  );
}

const heads = ['Limit', 'Value'];

export function limitsTable(limits: readonly ServiceLimit[]): Table {
  return { heads, rows: limits.map(({ about, value, unit }) => [about, shown(value, unit)]) };
}

export function quotasTable(): Table {
  const rows = resourceNames.map((resource) => {
    const { quota, unit, beyond, freeBy } = resources[resource];
    return [quoted(resource), shown(quota, unit === 'bytes' ? unit : ''), beyond, freeBy];
  });
  return { heads: ['Resource', 'Quota', 'Beyond it', 'To free some'], rows };
}

export function requestLimits(routes: ReadonlyMap<string, readonly Route[]>): Table {
  const all = [...routes.values()].flat();
  const row = (about: string, value: string) => [about, value];
  const bodies = all.filter(
    ({ verb, isPublic, bodyLimitBytes }) =>
      verb === 'POST' && bodyLimitBytes !== bodyDefaultBytes(isPublic),
  );
  const rows = [
    row('Requests of a key or user, in a second', shown(ratesDefault.key, '')),
    row('Of a workspace', shown(ratesDefault.workspace, '')),
    row('From a client address', shown(ratesDefault.address, '')),
    row('The body of a request', shown(bodyDefaultBytes(false), 'bytes')),
    row('Without a token', shown(bodyDefaultBytes(true), 'bytes')),
    ...bodies.map(({ path, bodyLimitBytes }) =>
      row(`Of ${quoted(path)}`, shown(bodyLimitBytes, 'bytes')),
    ),
    row('A message over gRPC', shown(messageMaxBytes, 'bytes')),
    row('Without a token', shown(publicMessageMaxBytes, 'bytes')),
    row('Connections of one client address', shown(limitsDefault.connectionsPerAddressMax, '')),
    row(
      'Operations of one key or user in progress; more wait for up to 10 s',
      shown(placesDefault.aloneMax, ''),
    ),
    row('The same while others make calls', shown(placesDefault.besideOthersMax, '')),
    row('The same of an address without a token', shown(placesDefault.unauthenticatedMax, '')),
    row('Requests in progress, of all clients', shown(limitsDefault.inFlightMax, '')),
    row(
      'Streams of one caller, such as `messages.export`',
      shown(limitsDefault.streamsPerCallerMax, ''),
    ),
  ];
  return { heads, rows };
}

/** In units that people read, such as `256 KiB` and `30 days`. */
function shown(value: number, unit: string): string {
  if (unit === 'bytes') return value >= MiB ? `${value / MiB} MiB` : `${value / KiB} KiB`;
  if (unit === 'ms') return duration(value);
  return value.toLocaleString('en');
}

function duration(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < minute) return `${ms / 1_000} s`;
  const days = ms / (24 * 60 * minute);
  return days < 1 ? `${ms / minute} minutes` : `${days} days`;
}
