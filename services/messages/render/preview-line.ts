import { previewLineName } from './compose.ts';

const value = `{{ ${previewLineName} }}`;
const hidden = 'display:none;max-height:0px;max-width:0px;opacity:0;overflow:hidden;';
/**
 * MJML's element for the preview line, near the start of the body. Inlined CSS changes the spaces
 * of its style, and may stand before it.
 */
const inHtml = /<div style="(?:[^"]*;\s*)?display:\s*none\b[^"]*">/;
const nearStart = 1_000;

/**
 * Has a message show a preview line of its own in place of the template's. For HTML, and for MJML
 * that is compiled later.
 */
export function withPreviewLine(source: string): string {
  const start = endOfOpening(source, /<body\b/g);
  if (start === undefined) return inMjml(source);
  const found = inHtml.exec(source.slice(start, start + nearStart));
  const own = `{% if ${previewLineName} %}<div style="${hidden}">${value}</div>{% endif %}`;
  if (!found) return splice(source, start, start, own);
  const inner = start + found.index + found[0].length;
  return replaced(source, inner, '</div>') ?? splice(source, start, start, own);
}

function inMjml(source: string): string {
  const inner = endOfOpening(source, /<mj-preview\b/g, '/');
  const changed = inner === undefined ? undefined : replaced(source, inner, '</mj-preview>');
  if (changed !== undefined) return changed;
  const own = `{% if ${previewLineName} %}<mj-preview>${value}</mj-preview>{% endif %}`;
  const head = endOfOpening(source, /<mj-head\b/g, '/');
  if (head !== undefined) return splice(source, head, head, own);
  const start = endOfOpening(source, /<mjml\b/g);
  return start === undefined ? source : splice(source, start, start, `<mj-head>${own}</mj-head>`);
}

/** Behind the first opening tag without `excluded`. Reads each character once. */
function endOfOpening(source: string, opening: RegExp, excluded?: string): number | undefined {
  for (let found = opening.exec(source); found; found = opening.exec(source)) {
    const end = source.indexOf('>', found.index);
    if (end < 0) return undefined;
    if (!excluded || !source.slice(found.index, end).includes(excluded)) return end + 1;
    opening.lastIndex = end;
  }
  return undefined;
}

/** The text up to `closing` stays for messages without a line of their own. */
function replaced(source: string, start: number, closing: string): string | undefined {
  const end = source.indexOf(closing, start);
  if (end < 0) return undefined;
  const line = `{% if ${previewLineName} %}${value}{% else %}${source.slice(start, end)}{% endif %}`;
  return splice(source, start, end, line);
}

function splice(source: string, start: number, end: number, text: string): string {
  return source.slice(0, start) + text + source.slice(end);
}
