import { type Html, html } from '#lib/html/template.ts';
import { layout, pageLinks, readableTime, toMinutes } from './layout.ts';
import type { Mail } from './mail.ts';

export const views = ['phone', 'desktop', 'text', 'headers', 'source'] as const;
export type View = (typeof views)[number];

const viewNames: Record<View, string> = {
  phone: 'Phone',
  desktop: 'Desktop',
  text: 'Text',
  headers: 'Headers',
  source: 'Source',
};

export type ListPage = { mails: Mail[]; total: number; to: string; offset: number; limit: number };

export function listPage({ mails, total, to, offset, limit }: ListPage): string {
  const count = `${total.toLocaleString('en')} ${total === 1 ? 'mail' : 'mails'}`;
  const rows = mails.map((mail) => html`<li>${row(mail)}</li>`);
  const empty = to === '' ? 'No mail yet.' : 'No mail to such a recipient.';
  const body = html`
    <p class="quiet">${count}${to === '' ? '' : html` to <b>${to}</b> · <a href="/">all</a>`}</p>
    ${rows.length === 0 ? html`<p class="mails empty quiet">${empty}</p>` : html`<ul class="mails">${rows}</ul>`}
    ${pageLinks('/', { to }, { offset, limit, total })}`;
  return layout({ title: 'Inbox', section: 'mails', form: searchForm(to), body });
}

/** CSS pixels that the mail is laid out in. */
const widths: Partial<Record<View, number>> = { phone: 390, desktop: 1280 };

/** The parts of a mail that its page shows beside the chosen view. */
export type Shown = {
  /** Absent where the view is HTML. */
  text: string;
  cc: string;
  attachments: { name: string; type: string; sizeBytes: number; isInline: boolean }[];
};

export function mailPage(mail: Mail, view: View, { text, cc, attachments }: Shown): string {
  const tabs = views.map(
    (name) =>
      html`<a class="tab" href="/mails/${mail.id}?view=${name}"${
        name === view ? html` aria-current="page"` : ''
      }>${viewNames[name]}</a>`,
  );
  const width = widths[view];
  // Nothing in a mail may run scripts or reach this page; its links open in a new tab.
  const content = width
    ? html`<div class="screen"><iframe title="The mail" width="${width}" src="/mails/${mail.id}/html" referrerpolicy="no-referrer"
          sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe></div>`
    : html`<pre>${text}</pre>`;
  const files = attachments.map(
    ({ name, type, sizeBytes, isInline }, index) =>
      html`<li><a href="/mails/${mail.id}/attachments/${index}">${name}</a> <span class="quiet">${type}, ${sizeText(sizeBytes)}${isInline ? ', inline' : ''}</span></li>`,
  );
  const body = html`
    <h2>${mail.subject || '(no subject)'}</h2>
    <dl><dt>Delivered to</dt><dd>${mail.to.join(', ')}</dd>${cc ? html`<dt>Cc</dt><dd>${cc}</dd>` : ''}
      <dt>From</dt><dd>${mail.from}</dd>
      <dt>Received</dt><dd>${readableTime(mail.receivedAt)} UTC</dd>
      <dt>Message-ID</dt><dd>${mail.messageId}</dd>
      ${files.length > 0 ? html`<dt>Attachments</dt><dd><ul class="files">${files}</ul></dd>` : ''}</dl>
    <nav>${tabs}</nav>${content}`;
  return layout({ title: mail.subject || 'Mail', section: 'mails', form: searchForm(''), body });
}

function row({ id, to, subject, receivedAt }: Mail): Html {
  return html`<a href="/mails/${id}"><span>${to.join(', ')}</span>
    <span class="subject">${subject || '(no subject)'}</span>
    <span class="quiet">${toMinutes(receivedAt)}</span></a>`;
}

function searchForm(to: string): Html {
  return html`<form action="/"><input type="search" name="to" value="${to}" placeholder="Recipient" aria-label="Recipient" maxlength="320"><button>Search</button></form>`;
}

function sizeText(bytes: number): string {
  return bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(1)} KiB`;
}
