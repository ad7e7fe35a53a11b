import { contentSecurityPolicy } from '#lib/html/content-security-policy.ts';
import { htmlDocument } from '#lib/html/document.ts';
import { stylesheet } from '#lib/html/stylesheet.ts';
import { type Html, html } from '#lib/html/template.ts';

const timeFormat = {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
} as const;
const minutes = new Intl.DateTimeFormat('en-GB', timeFormat);
const seconds = new Intl.DateTimeFormat('en-GB', { ...timeFormat, second: '2-digit' });

const style = stylesheet(`
body { background: var(--back); font: 15px/1.5 system-ui, sans-serif; }
main, header > div { max-width: 64rem; margin: 0 auto; padding: 0 1rem; }
header { background: var(--card); border-bottom: 1px solid var(--line); }
header > div { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; padding-block: .75rem; }
h1 { font-size: 1.1rem; margin: 0; } h1 a { color: inherit; text-decoration: none; }
nav.sections { margin: 0; gap: .25rem; } nav.sections a { padding: .25rem .6rem; border: 1px solid transparent; border-radius: 6px; text-decoration: none; } nav.sections a[aria-current] { background: var(--back); border-color: var(--line); }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 1.25rem 0 .75rem; overflow-wrap: anywhere; }
a { color: var(--accent); }
form { display: flex; gap: .5rem; flex: 1 1 16rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
input, select { flex: 1; min-width: 0; } input, select, button { font: inherit; padding: .4rem .7rem; border: 1px solid var(--edge); border-radius: 6px; background: var(--back); color: inherit; }
button { background: var(--action); border-color: var(--action); color: var(--on-action); cursor: pointer; }
.quiet { color: var(--quiet); }
.mails { list-style: none; margin: 1rem 0; padding: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
.mails li + li { border-top: 1px solid var(--line); }
.mails a { display: grid; grid-template-columns: minmax(0, 17rem) minmax(0, 1fr) auto; gap: 0 1rem; padding: .6rem 1rem; color: inherit; text-decoration: none; }
.mails a:hover, .mails a:focus { background: var(--back); }
.mails span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.subject { font-weight: 600; }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.webhooks a { grid-template-columns: minmax(0, 12rem) minmax(0, 1fr) 9.5rem 9rem auto; } .id, code { font-family: ui-monospace, monospace; font-size: .82em; } .id { align-self: center; }
nav { display: flex; gap: .25rem; margin: 1rem 0 0; } nav.pages { justify-content: space-between; margin: 0 0 2rem; }
nav a.tab { padding: .45rem .9rem; border: 1px solid transparent; border-bottom: 0; border-radius: 6px 6px 0 0; text-decoration: none; }
nav a[aria-current] { background: var(--card); border-color: var(--line); color: inherit; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1rem; margin: 0; } dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
pre, .screen { display: block; margin: 0 0 2rem; border: 1px solid var(--line); border-radius: 0 8px 8px 8px; }
main:has(.screen) { max-width: 82rem; } .screen { background: var(--back); overflow-x: auto; } iframe { background: var(--paper); border: 0; display: block; height: 75vh; margin: 0 auto; } .files { margin: 0; padding-left: 1.1rem; } pre { width: 100%; padding: 1rem; background: var(--card); overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px; }
h3 + pre { border-radius: 8px; margin: 0; } pre:last-child { margin-bottom: 2rem; }
.empty { padding: 3rem 1rem; text-align: center; }
@media (max-width: 40rem) { .mails a { grid-template-columns: minmax(0, 1fr) auto; } .mails .subject { grid-column: 1 / -1; grid-row: 1; } .webhooks a { grid-template-columns: minmax(0, 1fr) auto; } .webhooks .verdict { grid-row: 2; grid-column: 1; } .webhooks .attempt { grid-row: 2; grid-column: 2; text-align: right; } .webhooks .id { grid-row: 3; grid-column: 1; } dl { grid-template-columns: 1fr; } dt { font-size: 13px; } dd { margin-bottom: .3rem; } iframe { height: 70vh; } nav a.tab { padding: .45rem .55rem; } }
`);

/** Of every page of the inbox. */
export const pagePolicy = contentSecurityPolicy({
  style,
  frames: "'self'",
  forms: "'self'",
});

const sections = {
  mails: { name: 'Mails', path: '/' },
  webhooks: { name: 'Webhooks', path: '/webhooks' },
};

type Page = { title: string; section: keyof typeof sections; form: Html; body: Html };

/** A whole page: the sections and a form at the top, the body below. */
export function layout({ title, section, form, body }: Page): string {
  const links = Object.entries(sections).map(
    ([key, { name, path }]) =>
      html`<a href="${path}"${key === section ? html` aria-current="page"` : ''}>${name}</a>`,
  );
  return htmlDocument({
    title: `${title} · Postrider`,
    style,
    body: html`<header><div><h1><a href="/">Postrider inbox</a></h1><nav class="sections">${links}</nav>${form}</div></header>
<main>${body}</main>`,
  });
}

type Window = { offset: number; limit: number; total: number };

/** Links to newer and older entries. */
export function pageLinks(
  path: string,
  filter: Record<string, string>,
  { offset, limit, total }: Window,
): Html {
  const link = (to: number) =>
    `${path}?${new URLSearchParams({ ...filter, offset: String(Math.max(0, to)) })}`;
  return html`<nav class="pages">
      <span>${offset > 0 ? html`<a href="${link(offset - limit)}">← Newer</a>` : ''}</span>
      <span>${offset + limit < total ? html`<a href="${link(offset + limit)}">Older →</a>` : ''}</span>
    </nav>`;
}

export function toMinutes(iso: string): string {
  return minutes.format(new Date(iso));
}

export function toSeconds(iso: string): string {
  return seconds.format(new Date(iso));
}

export function readableTime(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}
