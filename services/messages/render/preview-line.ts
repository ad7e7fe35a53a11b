import { previewLineName } from './compose.ts';

const value = `{{ ${previewLineName} }}`;
const hidden =
  'display:none;font-size:1px;color:#ffffff;line-height:1px;max-height:0px;max-width:0px;opacity:0;overflow:hidden;';
/** MJML's element for the preview line, near the start of the body. */
const inHtml = /<div style="display:none;[^"]*">/;
const nearStart = 1_000;

/**
 * Has a message show a preview line of its own in place of the template's. For HTML, and for MJML
 * that is compiled later.
 */
export function withPreviewLine(source: string): string {
  const body = /<body\b[^>]*>/.exec(source);
  if (!body) return inMjml(source);
  const start = body.index + body[0].length;
  const found = inHtml.exec(source.slice(start, start + nearStart));
  const own = `{% if ${previewLineName} %}<div style="${hidden}">${value}</div>{% endif %}`;
  if (!found) return splice(source, start, start, own);
  const inner = start + found.index + found[0].length;
  return replaced(source, inner, '</div>') ?? splice(source, start, start, own);
}

function inMjml(source: string): string {
  const preview = /<mj-preview\b[^>/]*>/.exec(source);
  const inner = preview ? preview.index + preview[0].length : -1;
  const changed = preview ? replaced(source, inner, '</mj-preview>') : undefined;
  if (changed !== undefined) return changed;
  const own = `{% if ${previewLineName} %}<mj-preview>${value}</mj-preview>{% endif %}`;
  const head = /<mj-head\b[^>/]*>/.exec(source);
  if (head) return splice(source, head.index + head[0].length, head.index + head[0].length, own);
  const root = /<mjml\b[^>]*>/.exec(source);
  if (!root) return source;
  const start = root.index + root[0].length;
  return splice(source, start, start, `<mj-head>${own}</mj-head>`);
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
