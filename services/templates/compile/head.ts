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
  // Before one of the author's own, which Liquid may leave out.
  const titled = title === '' ? mjml : withElement(mjml, 'mj-title', title);
  const previewed =
    preview === ''
      ? titled
      : withElement(withoutElement(titled, 'mj-preview'), 'mj-preview', preview);
  return language === '' ? previewed : withLanguage(previewed, language);
}

function withElement(mjml: string, name: string, text: string): string {
  const element = `<${name}>${escapeText(text)}</${name}>`;
  const head = tagOf(mjml, 'mj-head');
  if (head?.isClosed) return splice(mjml, head, `<mj-head>${element}</mj-head>`);
  if (head) return splice(mjml, head, head.text + element);
  const root = tagOf(mjml, 'mjml');
  return root ? splice(mjml, root, `${root.text}<mj-head>${element}</mj-head>`) : mjml;
}

function withoutElement(mjml: string, name: string): string {
  const open = tagOf(mjml, name);
  if (!open) return mjml;
  const closing = `</${name}>`;
  const closed = open.isClosed ? -1 : mjml.indexOf(closing, open.end);
  return splice(mjml, { ...open, end: closed < 0 ? open.end : closed + closing.length }, '');
}

function withLanguage(mjml: string, language: string): string {
  const root = tagOf(mjml, 'mjml');
  if (!root || /\slang\s*=/.test(root.text)) return mjml;
  return splice(mjml, root, `<mjml lang="${language}"${root.text.slice('<mjml'.length)}`);
}

type FoundTag = { start: number; end: number; text: string; isClosed: boolean };

/** The first opening tag of a name. */
function tagOf(mjml: string, name: string): FoundTag | undefined {
  const start = mjml.search(new RegExp(`<${name}[\\s/>]`));
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
