import { tokensOf } from './tokens.ts';

/** In words, what stands at a position of HTML: an attribute, the text of an element, a comment. */
export function placeOf(html: string, at: number): string {
  const token = tokensOf(html).find(({ end }) => at < end);
  if (!token) return 'end';
  switch (token.kind) {
    case 'text':
      return token.inside === '' ? 'text' : `text of <${token.inside}>`;
    case 'comment':
      return 'comment for Outlook';
    case 'tag': {
      const attribute = token.attributes.find(({ start, end }) => start <= at && at <= end);
      return attribute ? `${attribute.name} of a tag` : 'tags';
    }
    default:
      return 'tags';
  }
}
