import { previewName } from '#lib/liquid/variables.ts';
import { escapeText } from './tree.ts';

export type Head = {
  /** Used if the author gives none. Empty for none. */
  title: string;
  /** The preview line; replaces the author's own. Empty for none. */
  preview: string;
  /** BCP 47; used if the author gives none. Empty for none. */
  language: string;
};

/** Puts language, title and preview line where mail programs look for them. */
export function withHead(mjml: string, { title, preview, language }: Head): string {
  const previewed = preview === '' ? mjml : withPreview(mjml, preview);
  // Before a title of the author's own, which Liquid may leave out.
  const titled = title === '' ? previewed : withElement(previewed, 'mj-title', title);
  return language === '' ? titled : withLanguage(titled, language);
}

/** The preview line reads values as they are before the Liquid of the body changes them. */
function withPreview(mjml: string, preview: string): string {
  const without = withoutElements(mjml, 'mj-preview');
  const place = tagOf(without, 'mj-head') ?? tagOf(without, 'mjml');
  if (!place || !without.slice(0, place.start).includes('{%')) {
    return withElement(without, 'mj-preview', preview);
  }
  const captured = `{% capture ${previewName} %}${escapeText(preview)}{% endcapture %}`;
  return captured + withElement(without, 'mj-preview', `{{ ${previewName} | raw }}`);
}

function withElement(mjml: string, name: string, text: string): string {
  const element = `<${name}>${escapeText(text)}</${name}>`;
  const head = tagOf(mjml, 'mj-head');
  if (head?.isClosed) return splice(mjml, head, `<mj-head>${element}</mj-head>`);
  if (head) return splice(mjml, head, head.text + element);
  const root = tagOf(mjml, 'mjml');
  return root ? splice(mjml, root, `${root.text}<mj-head>${element}</mj-head>`) : mjml;
}

/** Without all elements of a name: Liquid chooses among several. */
function withoutElements(mjml: string, name: string): string {
  const closing = `</${name}>`;
  const lastClosing = mjml.lastIndexOf(closing);
  let kept = '';
  let at = 0;
  for (let open = tagOf(mjml, name); open; open = tagOf(mjml, name, at)) {
    kept += mjml.slice(at, open.start);
    const isAlone = open.isClosed || lastClosing < open.end;
    at = isAlone ? open.end : mjml.indexOf(closing, open.end) + closing.length;
  }
  return kept + mjml.slice(at);
}

function withLanguage(mjml: string, language: string): string {
  const root = tagOf(mjml, 'mjml');
  if (!root || /\slang\s*=/.test(root.text)) return mjml;
  return splice(mjml, root, `<mjml lang="${language}"${root.text.slice('<mjml'.length)}`);
}

type FoundTag = { start: number; end: number; text: string; isClosed: boolean };

/** The first opening tag of a name at or behind a place. */
function tagOf(mjml: string, name: string, from = 0): FoundTag | undefined {
  const opening = new RegExp(`<${name}[\\s/>]`, 'g');
  opening.lastIndex = from;
  const start = opening.exec(mjml)?.index ?? -1;
  const close = start < 0 ? -1 : mjml.indexOf('>', start);
  if (close < 0) return undefined;
  const text = mjml.slice(start, close + 1);
  return { start, end: close + 1, text, isClosed: text.endsWith('/>') };
}

function splice(
  mjml: string,
  { start, end }: { start: number; end: number },
  text: string,
): string {
  return mjml.slice(0, start) + text + mjml.slice(end);
}
