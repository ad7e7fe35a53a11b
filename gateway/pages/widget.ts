import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Html, html } from '#lib/html/template.ts';
import type { HtmlPage } from '../html/page.ts';
import { staticFile } from '../static/file.ts';
import { fixedAnswer, fixedPage } from '../static/fixed.ts';
import { languages, type PageLocale } from './words.ts';

/*
 * ALTCHA's widget, from its package. Pages of other sites load it whole from one address, which
 * stays the same. Our own page takes its parts as files, since its policy allows no inline style
 * and no script from a blob.
 */

const packageFolder = join(dirname(createRequire(import.meta.url).resolve('altcha')), '../..');
const read = (path: string) => readFileSync(join(packageFolder, path), 'utf8');
const license = `/*\n${read('LICENSE.txt')}*/\n`;
const readScript = (path: string) => license + read(`dist/${path}`);

/** Our languages by the names of the widget's, which has English in itself. */
const names: Record<string, string> = { es: 'es-es', fr: 'fr-fr', pt: 'pt-pt' };
const nameOf = (language: string) => names[language] ?? language;

const sheet = staticFile('altcha.css', license + read('dist/external/altcha.css'));
const widget = staticFile('altcha.js', readScript('external/altcha.min.js'));
const worker = staticFile('altcha-worker.js', readScript('workers/pbkdf2.js'));
const start = staticFile('widget.js', readFileSync(join(import.meta.dirname, 'widget.js'), 'utf8'));
const texts = new Map(
  [...languages.keys()]
    .filter((language) => language !== 'en')
    .map((language) => {
      const name = nameOf(language);
      return [language, staticFile(`altcha-${name}.js`, readScript(`i18n/${name}.js`))] as const;
    }),
);

/** The files of the widget. */
export function widgetFiles(): HtmlPage {
  const files = [sheet, widget, worker, start, ...texts.values()];
  const whole = fixedAnswer('text/javascript', readScript('main/altcha.i18n.min.js'));
  return fixedPage(
    'form widget',
    new Map([
      ['/subscribe/altcha.js', whole],
      ...files.map(({ path, answer }) => [path, answer] as const),
    ]),
  );
}

/** Part of the head of a page with the widget. */
export function widgetHead(language: string): Html {
  const text = texts.get(language);
  const scripts = [widget, start, ...(text ? [text] : [])];
  return html`<link rel="stylesheet" href="${sheet.path}">
${scripts.map(({ path }) => html`<script type="module" src="${path}"></script>`)}`;
}

const configuration = JSON.stringify({
  hideFooter: true,
  hideLogo: true,
  humanInteractionSignature: false,
});

/** The widget in a form. It solves a challenge when the form is sent. */
export function widgetIn({ language }: PageLocale, workspaceId: string): Html {
  const challenge = `/subscribe/challenge?${new URLSearchParams({ workspace_id: workspaceId })}`;
  return html`<altcha-widget auto="onsubmit" challenge="${challenge}" language="${nameOf(language)}" configuration="${configuration}"
 data-worker="${worker.path}"></altcha-widget>`;
}
