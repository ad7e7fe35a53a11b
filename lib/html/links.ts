/** Query values by key (`source`, `medium`, `campaign`, `term`, `content`). */
export type Utm = Readonly<Record<string, string>>;

const utmKeys = ['source', 'medium', 'campaign', 'term', 'content'];

/** Tags whose `href` a reader follows, also those that Outlook draws buttons from. */
export const linkTags: ReadonlySet<string> = new Set(['a', 'area', 'v:roundrect', 'v:rect']);

export function isWebUrl(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

/**
 * Adds the values to addresses that have none of their own; the rest of an address stays as the
 * author wrote it. `ampersand` is how addresses spell one: `&amp;` in an attribute.
 */
export function utmWriter(utm: Utm, ampersand: '&' | '&amp;'): (url: string) => string {
  const query = utmKeys
    .filter((key) => utm[key])
    .map((key) => `utm_${key}=${encodeURIComponent(utm[key] ?? '')}`)
    .join(ampersand);
  if (query === '') return (url) => url;
  // `&#38;` is an ampersand, not the start of a fragment.
  const isEscaped = ampersand === '&amp;';
  return (url) => {
    const plain = isEscaped ? unescapeAttribute(url) : url;
    if ((isEscaped ? /[?&;]utm_/i : /[?&]utm_/i).test(url) || !URL.canParse(plain)) return url;
    const [address = '', fragment] = splitAt(url, isEscaped ? /(?<!&)#/ : /#/);
    const joint = !address.includes('?') ? '?' : isOpen(address) ? '' : ampersand;
    return `${address}${joint}${query}${fragment === undefined ? '' : `#${fragment}`}`;
  };
}

/** Whether a query goes on behind the address. */
function isOpen(address: string): boolean {
  return /(?:[?&]|&(?:amp|#38|#x26);)$/i.test(address);
}

function splitAt(text: string, pattern: RegExp): [string, string | undefined] {
  const at = text.search(pattern);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

const entities = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

/** An attribute's value, with the references resolved that addresses have. */
export function unescapeAttribute(value: string): string {
  if (!value.includes('&')) return value;
  return value.replace(
    /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-f]{1,6}));/gi,
    (found, name: string | undefined, decimal: string | undefined, hex: string | undefined) => {
      if (name !== undefined) return entities.get(name.toLowerCase()) ?? '';
      const point = Number.parseInt(decimal ?? hex ?? '', decimal ? 10 : 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : found;
    },
  );
}
