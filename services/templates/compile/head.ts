import { escapeText } from './tree.ts';

/**
 * Puts title and preview line into the head, where mail programs look for them. An element that is
 * there already takes the new text; the title is only added where there is none.
 */
export function withHead(
  mjml: string,
  { title, preview }: { title: string; preview: string },
): string {
  const titled = withElement(mjml, 'mj-title', title);
  return preview === '' ? titled : withElement(titled, 'mj-preview', preview);
}

function withElement(mjml: string, name: string, text: string): string {
  const element = `<${name}>${escapeText(text)}</${name}>`;
  const present = new RegExp(`<${name}\\b[^>]*>.*?</${name}>|<${name}\\b[^>]*/>`, 's');
  if (present.test(mjml)) return mjml.replace(present, () => element);
  if (/<mj-head\b[^>]*>/.test(mjml)) {
    return mjml.replace(/<mj-head\b[^>]*?(\/?)>/, (head, closed: string) =>
      closed ? `<mj-head>${element}</mj-head>` : head + element,
    );
  }
  return mjml.replace(/<mjml\b[^>]*>/, (root) => `${root}<mj-head>${element}</mj-head>`);
}
