import { type HtmlAttribute, type HtmlToken, tokensOf } from './tokens.ts';

/** A position in each of two texts. */
type Places = { got: number; expected: number };

/** The first difference of two texts in more than white space; undefined if there is none. */
export function firstSeenDifference(got: string, expected: string): Places | undefined {
  const at = { got: 0, expected: 0 };
  for (;;) {
    while (/\s/.test(got[at.got] ?? '')) at.got += 1;
    while (/\s/.test(expected[at.expected] ?? '')) at.expected += 1;
    if (got[at.got] !== expected[at.expected]) return at;
    if (at.got >= got.length) return undefined;
    at.got += 1;
    at.expected += 1;
  }
}

/** In words, what stands where two pieces of HTML differ. */
export function placeOf(html: { got: string; expected: string }, at: Places): string {
  const token = tokenAt(html.expected, at.expected);
  if (!token) return 'more at the end';
  switch (token.kind) {
    case 'text':
      return token.inside === '' ? 'text' : `text of <${token.inside}>`;
    case 'comment':
      return 'comment for Outlook';
    case 'tag': {
      const attribute = attributeAt(token, at.expected);
      if (!attribute) return `<${token.name}>`;
      const other = attributeAt(tokenAt(html.got, at.got), at.got);
      return `${attribute.name} of <${token.name}>, ${causeOf(other?.value ?? '', attribute.value)}`;
    }
    default:
      return `end of <${token.name}>`;
  }
}

const tokenAt = (html: string, at: number) => tokensOf(html).find(({ end }) => at < end);

function attributeAt(token: HtmlToken | undefined, at: number): HtmlAttribute | undefined {
  return token?.attributes.find(({ start, end }) => start <= at && at <= end);
}

/** The change of an attribute's value. */
function causeOf(got: string, expected: string): string {
  if (got === '#') return 'stopped';
  if (expected === '#') return 'not stopped';
  if (got === expected.replace(/[?&]utm_source=mails/, '')) return 'without UTM';
  if (got === expected.replace(/\s+/g, '%20')) return 'with %20 for white space';
  if (got.trim() === expected.trim()) return 'with other white space';
  return 'another value';
}
