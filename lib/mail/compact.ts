/** Their content is kept as it is. */
const verbatim = /^(pre|textarea|style|script|title|xmp)$/i;
/** Openings within a `pre` after which its end tag may be text, or close another tag. */
const hiding = /<(?:pre|textarea|style|script|title|xmp|!--)/i;
/** Conditional comments, which Outlook reads, and their ends. */
const isConditional = (comment: string) => /^<!--(\[if[^\]]*\]>|\[endif|<!|>)/i.test(comment);

/** Where white space may show, or what Liquid does with it can't be seen here. */
const keepsSpace = /white-space\s*:\s*(?!normal|nowrap)/i;

/**
 * HTML without indentation and without comments that no mail program reads. Each run of white space
 * becomes one character, a line break if it had one, so that nothing that is rendered changes and
 * lines stay short. Comments for which `isNeeded` is true stay. Reads each character a bounded
 * number of times; what is not closed is left as it is.
 */
export function compactHtml(html: string, isNeeded: (comment: string) => boolean): string {
  if (keepsSpace.test(html)) return html;
  const parts: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    parts.push(collapse(html.slice(at, open < 0 ? html.length : open)));
    if (open < 0) break;
    const end = endOf(html, open);
    if (end < 0) return parts.join('') + html.slice(open);
    parts.push(compactToken(html.slice(open, end), isNeeded));
    at = end;
  }
  return parts.join('');
}

const collapse = (text: string) =>
  text.replace(/[ \t\r\n\f]+/g, (run) => (/[\r\n]/.test(run) ? '\n' : ' '));

/**
 * The end of the comment, the tag or the verbatim element that starts at `open`; negative if it has
 * none.
 */
function endOf(html: string, open: number): number {
  if (html.startsWith('<!--', open)) return after(html, '-->', open + '<!--'.length);
  if (!/[a-z/!?]/i.test(html[open + 1] ?? '')) return open + 1;
  const end = endOfTag(html, open);
  const name = nameOf(html, open).toLowerCase();
  if (end < 0 || !verbatim.test(name)) return end;
  const closing = new RegExp(`</${name}`, 'gi');
  closing.lastIndex = end;
  const close = closing.exec(html)?.index ?? -1;
  // In the others no tag begins before the end; in `pre` one may, and hide the end.
  const hidesEnd = name === 'pre' && hiding.test(html.slice(end, close));
  return hidesEnd ? -1 : close;
}

function nameOf(html: string, open: number): string {
  const name = /[a-z]+\d?/iy;
  name.lastIndex = open + 1;
  return name.exec(html)?.[0] ?? '';
}

function endOfTag(html: string, open: number): number {
  for (let at = open; at < html.length; at += 1) {
    const character = html[at];
    if (character === '>') return at + 1;
    if (character !== '"' && character !== "'") continue;
    at = html.indexOf(character, at + 1);
    if (at < 0) return -1;
  }
  return -1;
}

function after(html: string, closing: string, from: number): number {
  const at = html.indexOf(closing, from);
  return at < 0 ? -1 : at + closing.length;
}

function compactToken(token: string, isNeeded: (comment: string) => boolean): string {
  if (token.startsWith('<!--')) return isConditional(token) || isNeeded(token) ? token : '';
  if (verbatim.test(nameOf(token, 0))) return token;
  return token
    .replace(/"[^"]*"|'[^']*'|[ \t\r\n\f]+/g, (part) => (/^["']/.test(part) ? part : ' '))
    .replace(/ >$/, '>');
}
