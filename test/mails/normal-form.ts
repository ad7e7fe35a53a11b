import { type HtmlToken, tokensOf } from './tokens.ts';

/**
 * Mails are compared byte for byte in a form in which these are equal, and nothing else:
 *
 * - line ends, and characters that UTF-8 can't say (half of a pair) and U+FFFD;
 * - random ids that MJML gives to carousels and menus: numbered in the order of the mail;
 * - comments that no mail program reads: left out; those that Outlook reads stay;
 * - runs of white space in HTML: one line break or one space, as `compactHtml` writes them; not in
 *   `pre` and its like, and not at all in a mail whose `white-space` keeps them;
 * - references of HTML and the character that they stand for: `&#39;`, `&apos;` and `'`;
 * - white space and control characters of a subject: one space, as in a header;
 * - line ends at the end of a part.
 */

export function normalSubject(subject: string): string {
  return subject
    .slice(0, 2_000)
    .replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ')
    .trim()
    .toWellFormed();
}

export function normalText(text: string): string {
  return withLines(text).replace(/\n+$/, '');
}

export function normalHtml(html: string): string {
  const seen = withoutComments(withNumberedIds(withLines(html)));
  return normalised(seen, keepsSpace.test(seen)).trim();
}

const withLines = (text: string) => text.replace(/\r\n?/g, '\n').toWellFormed();

/** Styles that show white space. */
const keepsSpace = /white-space\s*:\s*(?!normal|nowrap)/i;
/** Their content is kept as it is. */
const verbatim = new Set(['pre', 'textarea', 'style', 'script', 'title', 'xmp']);
/** Without references. */
const plain = new Set(['style', 'script', 'xmp', 'iframe', 'noembed', 'noframes', 'plaintext']);

/** Ids of mj-carousel, and of the checkbox of mj-navbar. */
const madeIds = /(?:carousel-|carousel-radio-|for="|id=")([\da-f]{16})(?![\da-f])/g;

function withNumberedIds(html: string): string {
  const ids = [...new Set([...html.matchAll(madeIds)].map(([, id = '']) => id))];
  return ids.reduce((text, id, index) => text.replaceAll(id, `made-id-${index + 1}`), html);
}

const isConditional = (comment: string) => /^<!--(\[if[^\]]*\]>|\[endif|<!|>)/i.test(comment);

function withoutComments(html: string): string {
  return tokensOf(html)
    .map(({ kind, start, end }) => {
      const source = html.slice(start, end);
      return kind === 'comment' && !isConditional(source) ? '' : source;
    })
    .join('');
}

function normalised(html: string, keeps: boolean): string {
  let depthOfPre = 0;
  return tokensOf(html)
    .map((token) => {
      const source = html.slice(token.start, token.end);
      switch (token.kind) {
        case 'text':
          return textOf(token, source, keeps || depthOfPre > 0);
        case 'tag':
          if (token.name === 'pre') depthOfPre += 1;
          return tagOf(token, html, keeps);
        case 'comment':
          return conditional(source, keeps);
        case 'end':
          if (token.name === 'pre') depthOfPre = Math.max(0, depthOfPre - 1);
          return tagOf(token, html, keeps);
        default:
          return source;
      }
    })
    .join('');
}

function textOf({ text, inside }: HtmlToken, source: string, keeps: boolean): string {
  const characters = plain.has(inside) ? source : escaped(text);
  return keeps || verbatim.has(inside) ? characters : collapsed(characters);
}

/** The tag with only its values and the white space around them changed. */
function tagOf({ start, end, attributes }: HtmlToken, html: string, keeps: boolean): string {
  const between = (from: number, to: number) =>
    keeps ? html.slice(from, to) : html.slice(from, to).replace(/[ \t\n\f]+/g, ' ');
  let tag = '';
  let at = start;
  for (const each of attributes.toSorted((a, b) => a.start - b.start)) {
    if (each.start < 0) continue;
    tag += between(at, each.start) + escaped(each.value);
    at = each.end;
  }
  return (tag + between(at, end)).replace(/ >$/, '>');
}

/** Comments that Outlook alone reads hold HTML as well, also if a comment in them ends them. */
function conditional(comment: string, keeps: boolean): string {
  const found = /^(<!--\[if[^\]]*\]>)(.*?)(<!\[endif\]-->|-->)$/s.exec(comment);
  if (!found) return comment;
  const [, open = '', inner = '', close = ''] = found;
  return open + normalised(inner, keeps) + close;
}

const collapsed = (text: string) =>
  text.replace(/[ \t\n\f]+/g, (run) => (run.includes('\n') ? '\n' : ' '));

const references: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => references[character]!);
