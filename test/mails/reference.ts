import { createRequire } from 'node:module';
import type { JsonObject } from '@bufbuild/protobuf';
import { htmlToText } from '#lib/html/text.ts';
import { newContext, renderInto, renderNodes } from '#lib/liquid/engine.ts';
import { escapeHtml } from '#lib/liquid/escape.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';
import type { GivenMail } from './given.ts';
import { language, valuesOf } from './mailing.ts';
import { PlainEmitter } from './reference-emitter.ts';
import { guardedLinks, guardedSources, utmLinks } from './reference-links.ts';

/**
 * The meaning of a mail, step by step and for one recipient alone: the Liquid of the whole MJML,
 * then MJML, then the text of that HTML. It shares the engine of Liquid and the conversion to text
 * with the code that we ship, and nothing else.
 */
export async function referenceOf(mail: GivenMail) {
  const values = valuesOf(mail);
  const subject = textOf(mail.subject, values);
  const preview = mail.subjectPreview && filled(mail.subjectPreview, values).buffer;
  const body = filled(preview === undefined ? mail.mjml : withoutPreview(mail.mjml), values);
  const mjml = withHead(guardedSources(body.buffer, body), { subject, preview });
  const html = utmLinks(guardedLinks(await compiled(mjml), body));
  const text = mail.text ? textOf(mail.text, values) : htmlToText(html);
  return { subject, html, text };
}

function textOf(source: string, values: JsonObject): string {
  return renderNodes('text', parseLiquid(source, 'text'), newContext('text', values));
}

function filled(source: string, values: JsonObject): PlainEmitter {
  const emitter = new PlainEmitter();
  const nodes = parseLiquid(source, 'html');
  renderInto(emitter, 'html', { nodes, context: newContext('html', values) });
  return emitter;
}

type Mjml = (source: string, options: object) => Promise<{ html: string }>;
const mjmlOf: Mjml = createRequire(import.meta.url)('mjml');

const noCode = { start: '(?!)', end: '(?!)' };

const fontNames = ['Open Sans', 'Droid Sans', 'Lato', 'Roboto', 'Ubuntu'];
const fontOf = (name: string): [string, string] => [
  name,
  `https://fonts.googleapis.com/css?family=${name.replace(' ', '+')}:300,400,500,700`,
];

/** MJML takes `$&` in the address of a network for a pattern. */
const withoutPatterns = (mjml: string) =>
  mjml.replace(/<mj-social-element\b[^>]*\shref="[^"]*"/g, (tag) => tag.replaceAll('$', '&#36;'));

async function compiled(mjml: string): Promise<string> {
  const { html } = await mjmlOf(withoutPatterns(mjml), {
    validationLevel: 'soft',
    ignoreIncludes: true,
    // Braces and `<%` are text here; by default CSS is not inlined between them.
    juicePreserveTags: { HBS: noCode, EJS: noCode },
    // A font of another host is loaded where the author names it.
    fonts: Object.fromEntries(
      fontNames.filter((name) => name !== 'Ubuntu' || mjml.includes(name)).map(fontOf),
    ),
  });
  // A preview line has neither a size nor a colour of its own.
  const tinyAndWhite =
    /(display: ?none; ?)font-size: ?1px; ?color: ?#ffffff; ?line-height: ?1px; ?/;
  return html.replace(tinyAndWhite, '$1');
}

/** The mail's preview line takes the place of all that the template may show. */
const withoutPreview = (mjml: string) =>
  mjml.replace(/<mj-preview(\s*\/>|.*?<\/mj-preview>)/gs, '');

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
  const headed = mjml.includes('<mj-head')
    ? mjml.replace(/<mj-head\s*\/>/, () => '<mj-head></mj-head>')
    : mjml.replace(/<mjml[^>]*>/, (root) => `${root}<mj-head></mj-head>`);
  return headed
    .replace(/<mj-head[^>]*>/, (open) => open + added)
    .replace(/<mjml(?![^>]*\slang\s*=)/, () => `<mjml lang="${language}"`);
}
