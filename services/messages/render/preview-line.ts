import { previewLineName } from './compose.ts';

const value = `{{ ${previewLineName} }}`;
const hidden =
  'display:none;font-size:1px;color:#ffffff;line-height:1px;max-height:0px;max-width:0px;opacity:0;overflow:hidden;';
/** MJML's element for the preview line. */
const opening = /<div style="display:none;[^"]*">/;

/** Has a message show a preview line of its own in place of the template's. */
export function withPreviewLine(html: string): string {
  const body = /<body\b[^>]*>/.exec(html);
  if (!body) return html;
  const start = body.index + body[0].length;
  const found = opening.exec(html.slice(start, start + 1_000));
  const end = found ? html.indexOf('</div>', start + found.index) : -1;
  if (!found || end < 0) {
    const line = `{% if ${previewLineName} %}<div style="${hidden}">${value}</div>{% endif %}`;
    return html.slice(0, start) + line + html.slice(start);
  }
  const inner = start + found.index + found[0].length;
  const line = `{% if ${previewLineName} %}${value}{% else %}${html.slice(inner, end)}{% endif %}`;
  return html.slice(0, inner) + line + html.slice(end);
}
