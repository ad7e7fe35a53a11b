import { type Html, html } from '#lib/html/template.ts';
import type { CallbackFilter, ReceivedCallback, Verdict } from './callbacks.ts';
import { layout, pageLinks, readableTime, toSeconds } from './layout.ts';

declare global {
  /** In Node, and not yet in TypeScript's types. */
  interface JSON {
    parse(text: string, reviver: Reviver): unknown;
    rawJSON(number: string): unknown;
  }
}
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

const marks: Record<Verdict, { mark: string; tone: string }> = {
  verified: { mark: '✓', tone: 'good' },
  'not verified': { mark: '✗', tone: 'bad' },
  'unknown secret': { mark: '?', tone: 'warn' },
};

export type WebhookListPage = {
  callbacks: ReceivedCallback[];
  /** All types to choose from. */
  types: string[];
  total: number;
  filter: CallbackFilter;
  offset: number;
  limit: number;
};

export function webhookListPage(given: WebhookListPage): string {
  const { callbacks, types, total, filter, offset, limit } = given;
  const { name = '', type = '' } = filter;
  const count = `${total.toLocaleString('en')} ${total === 1 ? 'webhook' : 'webhooks'}`;
  const isFiltered = name !== '' || type !== '';
  const rows = callbacks.map((callback) => html`<li>${row(callback)}</li>`);
  const body = html`
    <p class="quiet">${count}${type === '' ? '' : html` of <b>${type}</b>`}${name === '' ? '' : html` to <b>${name}</b>`}
      ${isFiltered ? html` · <a href="/webhooks">all</a>` : ''}</p>
    ${rows.length === 0 ? empty(isFiltered) : html`<ul class="mails webhooks">${rows}</ul>`}
    ${pageLinks('/webhooks', { name, type }, { offset, limit, total })}`;
  return layout({ title: 'Webhooks', section: 'webhooks', form: typeForm(types, filter), body });
}

/** The headers, the body, and why it was not verified. */
export function webhookPage(callback: ReceivedCallback): string {
  const { number, name, type, id, times, attempt, receivedAt, status, headers } = callback;
  const fields: [string, string | Html][] = [
    ['Signature', html`${verdictOf(callback)}${callback.reason && html`: ${callback.reason}`}`],
    [
      'Sent to',
      html`<a href="/webhooks?name=${name}">/webhooks/in/${name}</a>, which answered ${status}`,
    ],
    ['Received', `${readableTime(receivedAt)} UTC`],
    ['Attempt', attempt || 'not told'],
    ['Id', times > 1 ? html`${id} (came ${times} times so far)` : id || 'none'],
  ];
  const body = html`
    <h2>${type || '(no type)'}</h2>
    <dl>${fields.map(([term, value]) => html`<dt>${term}</dt><dd>${value}</dd>`)}</dl>
    ${callback.verdict === 'unknown secret' ? howToVerify(name) : ''}
    <h3>Body</h3><pre>${prettyBody(callback.body)}</pre>
    <h3>Headers</h3><pre>${headers.map(([header, value]) => `${header}: ${value}`).join('\n')}</pre>`;
  const title = `${type || 'Webhook'} ${number}`;
  return layout({ title, section: 'webhooks', form: html``, body });
}

function row(callback: ReceivedCallback): Html {
  const { number, type, id, times, attempt, receivedAt } = callback;
  return html`<a href="/webhooks/${number}"><span class="subject">${type || '(no type)'}</span>
    <span class="id quiet">${id || '(no id)'}</span>
    <span class="verdict">${verdictOf(callback)}</span>
    <span class="attempt quiet">${attempt && `attempt ${attempt}`}${times > 1 ? ' · repeat' : ''}</span>
    <span class="quiet">${toSeconds(receivedAt)}</span></a>`;
}

function verdictOf({ verdict }: ReceivedCallback): Html {
  const { mark, tone } = marks[verdict];
  return html`<b class="${tone}"><span aria-hidden="true">${mark}</span> ${verdict}</b>`;
}

function howToVerify(name: string): Html {
  return html`<p class="quiet">Webhooks that come after
    <code>PUT /api/webhooks/${name}/secret</code> with <code>{"secret": "whsec_…"}</code> are verified.</p>`;
}

function empty(isFiltered: boolean): Html {
  if (isFiltered) return html`<p class="mails empty quiet">No such webhook.</p>`;
  return html`<p class="mails empty quiet">No webhook yet. Subscriptions may send to
    <code>/webhooks/in/</code> and any name here, such as <code>/webhooks/in/mine</code>.</p>`;
}

function typeForm(types: string[], { name = '', type = '' }: CallbackFilter): Html {
  const options = types.map(
    (each) => html`<option${each === type ? html` selected` : ''}>${each}</option>`,
  );
  return html`<form action="/webhooks">${name && html`<input type="hidden" name="name" value="${name}">`}
<select name="type" aria-label="Type"><option value="">All types</option>${options}</select><button>Filter</button></form>`;
}

/** JSON with line breaks, its numbers as they came; anything else as it came. */
function prettyBody(body: Buffer): string {
  const text = body.toString('utf8');
  try {
    return JSON.stringify(JSON.parse(text, keepNumber), null, 2);
  } catch {
    return text || '(empty)';
  }
}

const keepNumber: Reviver = (_key, value, { source = '' }) =>
  typeof value === 'number' ? JSON.rawJSON(source) : value;
