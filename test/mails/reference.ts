import { createRequire } from 'node:module';
import type { JsonObject } from '@bufbuild/protobuf';
import { htmlToText } from '#lib/html/text.ts';
import { newContext, renderNodes, type SourcePlace } from '#lib/liquid/engine.ts';
import { escapeHtml } from '#lib/liquid/escape.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';
import type { GivenMail } from './given.ts';
import { language, valuesOf } from './mailing.ts';
import { guardedLinks, guardedSources, utmLinks } from './reference-links.ts';

/**
 * The meaning of a mail, step by step and for one recipient alone: the Liquid of the whole MJML,
 * then MJML, then the text of that HTML. It shares the engine of Liquid and the conversion to text
 * with the code that we ship, and nothing else.
 */
export async function referenceOf(mail: GivenMail) {
  const values = valuesOf(mail);
  const subject = rendered('text', mail.subject, values);
  const preview = mail.subjectPreview && rendered('html', mail.subjectPreview, values);
  const filled = guardedSources(rendered('html', mail.mjml, values), mail);
  const mjml = withHead(filled, { subject, preview });
  const html = utmLinks(guardedLinks(await compiled(mjml), mail));
  const text = mail.text ? rendered('text', mail.text, values) : htmlToText(html);
  return { subject, html, text };
}

function rendered(place: SourcePlace, source: string, values: JsonObject): string {
  return renderNodes(place, parseLiquid(source, place), newContext(place, values));
}

type Mjml = (source: string, options: object) => Promise<{ html: string }>;
const mjmlOf: Mjml = createRequire(import.meta.url)('mjml');

const fontNames = ['Open Sans', 'Droid Sans', 'Lato', 'Roboto', 'Ubuntu'];
const fontOf = (name: string): [string, string] => [
  name,
  `https://fonts.googleapis.com/css?family=${name.replace(' ', '+')}:300,400,500,700`,
];

async function compiled(mjml: string): Promise<string> {
  const { html } = await mjmlOf(mjml, {
    validationLevel: 'soft',
    ignoreIncludes: true,
    // A font of another host is loaded where the author names it.
    fonts: Object.fromEntries(
      fontNames.filter((name) => name !== 'Ubuntu' || mjml.includes(name)).map(fontOf),
    ),
  });
  return html;
}

/**
 * The author's own title and language stay; the preview line is the mail's if it has one. MJML
 * writes the title into an attribute as well.
 */
function withHead(
  mjml: string,
  { subject, preview }: { subject: string; preview: string | undefined },
) {
  const isTitled = mjml.includes('<mj-title');
  const added =
    (subject === '' || isTitled ? '' : `<mj-title>${escapeHtml(subject)}</mj-title>`) +
    (preview === undefined ? '' : `<mj-preview>${preview}</mj-preview>`);
  const own =
    preview === undefined ? mjml : mjml.replace(/<mj-preview(\s*\/>|.*?<\/mj-preview>)/s, '');
  const headed = own.includes('<mj-head')
    ? own.replace(/<mj-head\s*\/>/, () => '<mj-head></mj-head>')
    : own.replace(/<mjml[^>]*>/, (root) => `${root}<mj-head></mj-head>`);
  return headed
    .replace(/<mj-head[^>]*>/, (open) => open + added)
    .replace(/<mjml(?![^>]*\slang\s*=)/, () => `<mjml lang="${language}"`);
}
