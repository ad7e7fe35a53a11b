import { type Html, html } from './html.ts';
import { layout, pageLinks, readableTime, toMinutes } from './layout.ts';
import type { Mail } from './mailbox.ts';

export const views = ['html', 'text', 'headers', 'source'] as const;
export type View = (typeof views)[number];

const viewNames: Record<View, string> = {
  html: 'HTML',
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
    <p class="soft">${count}${to === '' ? '' : html` to <b>${to}</b> · <a href="/">all</a>`}</p>
    ${rows.length === 0 ? html`<p class="mails empty soft">${empty}</p>` : html`<ul class="mails">${rows}</ul>`}
    ${pageLinks('/', { to }, { offset, limit, total })}`;
  return layout({ title: 'Inbox', section: 'mails', form: searchForm(to), body });
}

export function mailPage(mail: Mail, view: View, text: string): string {
  const tabs = views.map(
    (name) =>
      html`<a class="tab" href="/mails/${mail.id}?view=${name}"${
        name === view ? html` aria-current="page"` : ''
      }>${viewNames[name]}</a>`,
  );
  // Nothing in a mail may run scripts or reach this page; its links open in a new tab.
  const content =
    view === 'html'
      ? html`<iframe title="The mail" src="/mails/${mail.id}/html" referrerpolicy="no-referrer"
          sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>`
      : html`<pre>${text}</pre>`;
  const body = html`
    <h2>${mail.subject || '(no subject)'}</h2>
    <dl><dt>To</dt><dd>${mail.to.join(', ')}</dd><dt>From</dt><dd>${mail.from}</dd>
      <dt>Received</dt><dd>${readableTime(mail.receivedAt)} UTC</dd>
      <dt>Message-ID</dt><dd>${mail.messageId}</dd></dl>
    <nav>${tabs}</nav>${content}`;
  return layout({ title: mail.subject || 'Mail', section: 'mails', form: searchForm(''), body });
}

function row({ id, to, subject, receivedAt }: Mail): Html {
  return html`<a href="/mails/${id}"><span>${to.join(', ')}</span>
    <span class="subject">${subject || '(no subject)'}</span>
    <span class="soft">${toMinutes(receivedAt)}</span></a>`;
}

function searchForm(to: string): Html {
  return html`<form action="/"><input type="search" name="to" value="${to}" placeholder="Recipient" aria-label="Recipient" maxlength="320"><button>Search</button></form>`;
}
