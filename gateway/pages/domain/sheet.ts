import type { GetNewestDomainTestResponse } from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import {
  type Domain,
  type DomainRecord,
  DomainRecordPurpose,
  DomainRecordState,
  type GetDomainPageResponse,
} from '#gen/postrider/workspaces/v1/domains_pb.ts';
import { contentSecurityPolicy } from '#lib/html/content-security-policy.ts';
import { htmlDocument, noIcon } from '#lib/html/document.ts';
import { type Html, html } from '#lib/html/template.ts';
import { secretPageHeaders } from '../../html/headers.ts';
import { timeOf } from '../../html/times.ts';
import type { HttpAnswer } from '../../http/answer.ts';
import { badge } from './badge.ts';
import { style } from './style.ts';
import { testOf } from './test.ts';
import { wordsOfDomain, wordsOfKey, wordsOfPurpose, wordsOfRecord } from './words.ts';

const headers = secretPageHeaders(
  contentSecurityPolicy({ style, images: ['data:'], forms: "'self'" }),
);
const zoneRowsMax = 14;

/** The page of a domain, without script: a click on a value selects it. */
export function sheetOf(
  { domain, workspaceName, expiresAt }: GetDomainPageResponse,
  test: GetNewestDomainTestResponse | undefined,
  { status, notice }: { status: number; notice: string },
): HttpAnswer {
  if (!domain) return messageSheet(404, 'Not found', 'There is no such domain.');
  const words = wordsOfDomain(domain.state);
  const until = expiresAt ? ` until ${timeOf(expiresAt)}` : '';
  const body = html`<header><p class="sender"><bdi>${workspaceName}</bdi></p>
<h1>${domain.name}</h1>
<p>${badge(words)}</p>
<p class="verdict">${verdictOf(domain)}</p>
<p class="quiet">${checksOf(domain)}</p>
${notice === '' ? '' : html`<p class="notice" role="status">${notice}</p>`}
<form method="post"><button type="submit" name="action" value="check">Check again now</button></form></header>
<h2>Records</h2>
<p>Add them where the DNS of the domain is managed. A click on a value selects it.</p>
${domain.records.map((record) => recordOf(domain, record))}
${testOf(test)}${zoneOf(domain)}${keysOf(domain)}
<footer><p>Times are UTC. Whoever has the link of this page can see it${until}.</p></footer>`;
  return page(status, domain.name, body);
}

/** A page that says why there is no other. */
export function messageSheet(status: number, title: string, text: string): HttpAnswer {
  return page(status, title, html`<h1>${title}</h1><p>${text}</p>`);
}

function page(status: number, title: string, body: Html): HttpAnswer {
  const text = htmlDocument({
    ...{ title: `${title} · Postrider`, style, head: noIcon },
    body: html`<main>\n${body}\n</main>`,
  });
  return { status, headers, body: text };
}

const isInOrder = ({ knownState }: DomainRecord) => knownState === DomainRecordState.OK;

function verdictOf({ records }: Domain): string {
  const required = records.filter((record) => record.required);
  const done = required.filter(isInOrder).length;
  const advised = records.filter((record) => !record.required && !isInOrder(record)).length;
  const more = advised > 0 ? `, and ${advised} more ${advised > 1 ? 'are' : 'is'} advised` : '';
  if (done === required.length) return `All required records are in order${more}.`;
  return `${done} of ${required.length} required records are in order${more}.`;
}

function checksOf({ checkedAt, nextCheckAt, failingSince }: Domain): string {
  return [
    failingSince ? `Not in order since ${timeOf(failingSince)}.` : '',
    checkedAt ? `Checked ${timeOf(checkedAt)}.` : 'Not checked yet.',
    nextCheckAt ? `Next check ${timeOf(nextCheckAt)}.` : '',
  ]
    .filter((each) => each !== '')
    .join(' ');
}

function recordOf({ name }: Domain, record: DomainRecord): Html {
  const { purpose, state, required, type, host, value, found, explanation } = record;
  const open = { html: state === DomainRecordState.OK ? '' : ' open' };
  const facts: [term: string, texts: readonly string[]][] = [
    ['Type', [type]],
    ['Host', [host]],
    ...(host.endsWith(`.${name}`)
      ? ([['Host below the domain', [host.slice(0, -name.length - 1)]]] as [string, string[]][])
      : []),
    [isExample(record) ? 'Value, for example' : 'Value', [value]],
    ['Found now', found],
  ];
  return html`<details${open}><summary><span class="what">${wordsOfPurpose(purpose)}</span><span class="marks">${required ? '' : html`<span class="quiet">advised</span> `}${badge(wordsOfRecord(state))}</span></summary>
<p>${explanation}</p>
${unreachableNote(record)}<dl>${facts.map(([term, texts]) => html`<dt>${term}</dt>${texts.length === 0 ? html`<dd>nothing</dd>` : texts.map((text) => html`<dd><code class="copy">${text}</code></dd>`)}`)}</dl></details>
`;
}

/** The values of these are the choice of others. */
function isExample({ purpose }: DomainRecord): boolean {
  return purpose === DomainRecordPurpose.SPF || purpose === DomainRecordPurpose.DMARC;
}

function unreachableNote({ state, knownState }: DomainRecord): Html {
  if (state !== DomainRecordState.UNREACHABLE) return html``;
  const { text } = wordsOfRecord(knownState);
  return html`<p class="quiet">Last known state: ${text}.</p>
`;
}

function zoneOf({ zone }: Domain): Html {
  const rows = Math.min(zoneRowsMax, zone.split('\n').length);
  return html`<section><h2>As a zone file</h2>
<textarea readonly rows="${rows}" aria-label="Records as lines of a zone file" spellcheck="false">
${zone}</textarea></section>
`;
}

function keysOf({ keys }: Domain): Html {
  if (keys.length === 0) return html``;
  return html`<section><h2>Keys</h2>
<table><thead><tr><th>Selector</th><th>Algorithm</th><th>State</th><th>Since</th></tr></thead>
<tbody>${keys.map(
    (
      key,
    ) => html`<tr><td data-head="Selector"><code>${key.selector}</code></td><td data-head="Algorithm">${key.algorithm}</td><td data-head="State">${wordsOfKey(key.state)}</td><td data-head="Since">${key.since ? timeOf(key.since) : ''}</td></tr>
`,
  )}</tbody></table></section>
`;
}
