/** A template without one of its pieces: an element, a block of Liquid, a text, an attribute. */

type Range = { start: number; end: number };
type Piece = Range & { source: string };

const liquid = String.raw`\{%.*?%\}|\{\{.*?\}\}`;
const quoted = `"(?:${liquid}|[^"])*"|'(?:${liquid}|[^'])*'`;
const pieceOf = new RegExp(
  String.raw`${liquid}|<!--|-->|</?[a-z][\w-]*(?:${liquid}|${quoted}|[^>"'])*>|[^<{-]+|[<{-]`,
  'gis',
);
const attribute = new RegExp(String.raw`\s[\w-]+=(?:${quoted})`, 'gs');
const liquidBlock = /^\{%-?\s*(if|unless|case|for|tablerow|capture|comment|raw)\b/;
const structural = /^<(mjml|mj-body)\b/;

/** Templates with one cut, those with the longest cut first. */
export function* removals(source: string): Generator<string> {
  const cuts = cutsOf(source).toSorted((a, b) => lengthOf(b) - lengthOf(a));
  for (const cut of cuts) {
    let left = '';
    let at = 0;
    for (const { start, end } of cut) {
      left += source.slice(at, start);
      at = end;
    }
    yield left + source.slice(at);
  }
}

const lengthOf = (cut: Range[]) => cut.reduce((sum, { start, end }) => sum + end - start, 0);

/**
 * A pair is cut with its content, or alone; an element of MJML never alone, since its content may
 * not stand elsewhere.
 */
function cutsOf(source: string): Range[][] {
  const pieces: Piece[] = [...source.matchAll(pieceOf)].map(({ 0: text, index }) => ({
    source: text,
    start: index,
    end: index + text.length,
  }));
  const open: { name: string; piece: Piece }[] = [];
  const cuts: Range[][] = [];
  for (const piece of pieces) {
    if (structural.test(piece.source)) {
      cuts.push(...attributesOf(piece));
      continue;
    }
    const name = nameOpened(piece.source);
    if (name !== undefined) open.push({ name, piece });
    else if (closes(piece.source)) {
      const at = open.findLastIndex((each) => closes(piece.source) === each.name);
      const [opened] = at < 0 ? [] : open.splice(at);
      if (!opened) continue;
      cuts.push([{ start: opened.piece.start, end: piece.end }]);
      if (!opened.name.startsWith('mj-')) cuts.push([opened.piece, piece]);
    } else cuts.push([piece]);
    cuts.push(...attributesOf(piece));
  }
  return cuts;
}

function nameOpened(source: string): string | undefined {
  if (source === '<!--') return '!--';
  const [, block] = liquidBlock.exec(source) ?? [];
  if (block !== undefined) return block;
  if (source.endsWith('/>')) return undefined;
  return /^<([a-z][\w-]*)/i.exec(source)?.[1];
}

function closes(source: string): string | undefined {
  if (source === '-->') return '!--';
  return /^\{%-?\s*end(\w+)/.exec(source)?.[1] ?? /^<\/([\w-]+)/.exec(source)?.[1];
}

function attributesOf({ source, start }: Piece): Range[][] {
  if (!source.startsWith('<')) return [];
  return [...source.matchAll(attribute)].map(({ 0: text, index }) => [
    { start: start + index, end: start + index + text.length },
  ]);
}
