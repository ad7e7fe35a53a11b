/** The position of a piece of Liquid in a source. */
export type SourceSpan = { start: number; end: number };

/**
 * Every `{{ … }}` and `{% … %}` of a source, in order. It reads each character a bounded number of
 * times, also if pieces are not closed.
 */
export function liquidSpans(source: string): SourceSpan[] {
  const spans: SourceSpan[] = [];
  // After the last closing delimiter of its kind no piece can end.
  const last = { '}}': source.lastIndexOf('}}'), '%}': source.lastIndexOf('%}') };
  for (let at = source.indexOf('{'); at >= 0; at = source.indexOf('{', at)) {
    const closing = closingOf(source[at + 1]);
    if (closing === undefined || at + 2 > last[closing]) {
      at += 1;
      continue;
    }
    const end = source.indexOf(closing, at + 2) + closing.length;
    spans.push({ start: at, end });
    at = end;
  }
  return spans;
}

function closingOf(second: string | undefined): '}}' | '%}' | undefined {
  if (second === '{') return '}}';
  return second === '%' ? '%}' : undefined;
}

/** The source with its Liquid, and the text between, each changed separately. */
export function mapLiquid(
  source: string,
  change: { liquid?: (liquid: string) => string; plain?: (plain: string) => string },
): string {
  const { liquid = same, plain = same } = change;
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of liquidSpans(source)) {
    parts.push(plain(source.slice(at, start)), liquid(source.slice(start, end)));
    at = end;
  }
  parts.push(plain(source.slice(at)));
  return parts.join('');
}

const same = (text: string) => text;
