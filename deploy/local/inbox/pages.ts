import { type Html, html } from './html.ts';
import type { Mail } from './mailbox.ts';

export const views = ['html', 'text', 'headers', 'source'] as const;
export type View = (typeof views)[number];

const shortTime = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});
const viewNames: Record<View, string> = {
  html: 'HTML',
  text: 'Text',
  headers: 'Headers',
  source: 'Source',
};

const style = `
:root { color-scheme: light dark; --line: #e3e6ea; --soft: #667085; --back: #f6f7f9; --card: #fff; --ink: #1a202c; --mark: #2457d6; }
@media (prefers-color-scheme: dark) { :root { --line: #30363f; --soft: #9aa4b2; --back: #14171b; --card: #1c2025; --ink: #e6e9ee; --mark: #86a8ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main, header > div { max-width: 64rem; margin: 0 auto; padding: 0 1rem; }
header { background: var(--card); border-bottom: 1px solid var(--line); }
header > div { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; padding-block: .75rem; }
h1 { font-size: 1.1rem; margin: 0; } h1 a { color: inherit; text-decoration: none; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 1.25rem 0 .75rem; overflow-wrap: anywhere; }
a { color: var(--mark); }
form { display: flex; gap: .5rem; flex: 1 1 16rem; }
input { flex: 1; min-width: 0; } input, button { font: inherit; padding: .4rem .7rem; border: 1px solid var(--line); border-radius: 6px; background: var(--back); color: inherit; }
button { background: var(--mark); border-color: var(--mark); color: var(--card); cursor: pointer; }
.soft { color: var(--soft); }
.mails { list-style: none; margin: 1rem 0; padding: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
.mails li + li { border-top: 1px solid var(--line); }
.mails a { display: grid; grid-template-columns: minmax(0, 17rem) minmax(0, 1fr) auto; gap: 0 1rem; padding: .6rem 1rem; color: inherit; text-decoration: none; }
.mails a:hover, .mails a:focus { background: var(--back); }
.mails span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.subject { font-weight: 600; }
nav { display: flex; gap: .25rem; margin: 1rem 0 0; } nav.pages { justify-content: space-between; margin: 0 0 2rem; }
nav a.tab { padding: .45rem .9rem; border: 1px solid transparent; border-bottom: 0; border-radius: 6px 6px 0 0; text-decoration: none; }
nav a[aria-current] { background: var(--card); border-color: var(--line); color: inherit; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1rem; margin: 0; } dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
iframe, pre { display: block; width: 100%; margin: 0 0 2rem; border: 1px solid var(--line); border-radius: 0 8px 8px 8px; }
iframe { height: 75vh; background: #fff; } pre { padding: 1rem; background: var(--card); overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px; }
.empty { padding: 3rem 1rem; text-align: center; }
@media (max-width: 40rem) { .mails a { grid-template-columns: minmax(0, 1fr) auto; } .mails .subject { grid-column: 1 / -1; grid-row: 1; } dl { grid-template-columns: 1fr; } dt { font-size: 13px; } dd { margin-bottom: .3rem; } iframe { height: 70vh; } }
`;

export type ListPage = { mails: Mail[]; total: number; to: string; offset: number; limit: number };

export function listPage({ mails, total, to, offset, limit }: ListPage): string {
  const count = `${total.toLocaleString('en')} ${total === 1 ? 'mail' : 'mails'}`;
  const rows = mails.map((mail) => html`<li>${row(mail)}</li>`);
  const empty = to === '' ? 'No mail yet.' : 'No mail to such a recipient.';
  const body = html`
    <p class="soft">${count}${to === '' ? '' : html` to <b>${to}</b> · <a href="/">all</a>`}</p>
    ${rows.length === 0 ? html`<p class="mails empty soft">${empty}</p>` : html`<ul class="mails">${rows}</ul>`}
    <nav class="pages">
      <span>${offset > 0 ? html`<a href="${pageLink(to, Math.max(0, offset - limit))}">← Newer</a>` : ''}</span>
      <span>${offset + limit < total ? html`<a href="${pageLink(to, offset + limit)}">Older →</a>` : ''}</span>
    </nav>`;
  return page('Inbox', to, body);
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
  return page(mail.subject || 'Mail', '', body);
}

function row({ id, to, subject, receivedAt }: Mail): Html {
  return html`<a href="/mails/${id}"><span>${to.join(', ')}</span>
    <span class="subject">${subject || '(no subject)'}</span>
    <span class="soft">${shortTime.format(new Date(receivedAt))}</span></a>`;
}

function page(title: string, to: string, body: Html): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title} · Postrider</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${{ html: style }}</style></head>
<body><header><div><h1><a href="/">Postrider inbox</a></h1>
<form action="/"><input type="search" name="to" value="${to}" placeholder="Recipient" aria-label="Recipient" maxlength="320"><button>Search</button></form></div></header>
<main>${body}</main></body></html>`.html;
}

function pageLink(to: string, offset: number): string {
  return `/?${new URLSearchParams({ to, offset: String(offset) })}`;
}

function readableTime(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}
