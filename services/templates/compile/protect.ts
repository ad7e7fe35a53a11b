import { randomBytes } from 'node:crypto';
import { liquidSpans, type SourceSpan } from '#lib/liquid/spans.ts';
import { ContentError } from './content-error.ts';
import { mjmlTags } from './tags.ts';

/** MJML whose Liquid is hidden from the XML parser behind words that mean nothing to it. */
export type Protected = {
  mjml: string;
  /** Finds the words. */
  words: RegExp;
  /** Puts the Liquid back, byte for byte. */
  restore(html: string): string;
  /** Whether a text speaks of Liquid that is hidden. */
  isAboutLiquid(text: string): boolean;
  /** The line of the source that a line of `mjml` stands in. */
  sourceLine(line: number): number;
  /** Whether Liquid stands between blocks, so that it may make blocks. */
  makesBlocks: boolean;
};

export function protectLiquid(source: string): Protected {
  // A random word, which is not in the template.
  const nonce = `lq${randomBytes(8).toString('hex')}x`;
  const spans = hiddenSpans(source);
  const parts: string[] = [];
  let at = 0;
  for (const [index, { start, end }] of spans.entries()) {
    parts.push(source.slice(at, start), `${nonce}${index}z`);
    at = end;
  }
  const mjml = parts.join('') + source.slice(at);
  const hidden = spans.map(({ start, end }) => source.slice(start, end));
  const word = new RegExp(`${nonce}(\\d+)z`, 'g');
  const restore = (text: string) =>
    text.replace(word, (_, index: string) => hidden[Number(index)] ?? '');
  return {
    mjml,
    words: word,
    makesBlocks: standsBetweenBlocks(mjml, nonce),
    restore,
    isAboutLiquid: (text) => text.includes(nonce),
    sourceLine: (line) => restore(mjml.split('\n').slice(0, line).join('\n')).split('\n').length,
  };
}

const opensVerbatim = /^\{%-?\s*(raw|comment)\s*-?%\}$/;

/** All Liquid, with what stands inside of `raw` and `comment` as one piece. */
function hiddenSpans(source: string): SourceSpan[] {
  const spans: SourceSpan[] = [];
  let open: { span: SourceSpan; ends: RegExp } | undefined;
  for (const span of liquidSpans(source)) {
    const liquid = source.slice(span.start, span.end);
    if (open) {
      if (!open.ends.test(liquid)) continue;
      spans.push({ start: open.span.start, end: span.end });
      open = undefined;
      continue;
    }
    const [, name] = opensVerbatim.exec(liquid) ?? [];
    if (name === undefined) spans.push(span);
    else open = { span, ends: new RegExp(`^\\{%-?\\s*end${name}\\s*-?%\\}$`) };
  }
  if (open)
    throw new ContentError(`tag ${source.slice(open.span.start, open.span.end)} not closed`);
  return spans;
}

/**
 * Walks the tags of the MJML, which have to nest; what is left between structural tags may hold no
 * hidden word.
 */
function standsBetweenBlocks(mjml: string, nonce: string): boolean {
  const open: string[] = [];
  let makesBlocks = false;
  let at = 0;
  for (const { start, end, name, attributes, kind } of mjmlTags(mjml)) {
    const between = mjml.slice(at, start) + attributes.replace(/"[^"]*"|'[^']*'/g, '');
    makesBlocks ||= between.includes(nonce);
    at = end;
    if (name === 'mj-include') throw new ContentError('mj-include is not supported');
    if (kind === 'opens') open.push(name);
    else if (kind === 'closes' && open.pop() !== name) {
      throw new ContentError(`</${name}> closes nothing that is open`);
    }
  }
  if (open.length > 0) throw new ContentError(`<${open.at(-1)}> is not closed`);
  return makesBlocks || mjml.slice(at).includes(nonce);
}
