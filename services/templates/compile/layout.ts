import { mapLiquid } from '#lib/liquid/spans.ts';
import { ContentError, type Issue } from './content-error.ts';
import { warningsOf } from './issues.ts';
import {
  type Cut,
  type Outline,
  type OutlinePiece,
  outlineOf,
  type Range,
  textOf,
} from './outline.ts';
import type { Source } from './source.ts';

/** Liquid is not read in there. */
const opensVerbatim = /\{%-?\s*(raw|comment)\b/;
const slot = /\{\{-?\s*content\s*-?\}\}/g;

/** MJML as it is compiled, and how its issues map to the sources. */
export type Whole = {
  mjml: string;
  /** Throws errors, and returns warnings; `isRendered` says that lines are not those of `mjml`. */
  warningsOf(issues: readonly Issue[], isRendered: boolean): Issue[];
};

/** Throws unless the MJML of a layout holds `{{ content }}` once, where sections may stand. */
export function checkLayout(layout: string): void {
  findSlot(layout);
}

/** A template's MJML without a layout. */
export function unwrapped(mjml: string, kind: Source['kind']): Whole {
  return {
    mjml,
    // Attributes that values make are no mistake of the author.
    warningsOf: (issues, isRendered) => warningsOf(issues, kind, isRendered),
  };
}

type MjmlSource = { mjml: string; kind: Source['kind'] };

/**
 * Puts what stands in the `mj-body` of a template in place of its layout's `{{ content }}`, and its
 * head behind that of the layout, so that the template's own attributes and styles win. Liquid
 * outside of both stays outside.
 */
export function wrapInLayout(own: MjmlSource, layout: MjmlSource): Whole {
  const inner = outlineOf(own.mjml);
  const body = inner.root ? inner.body : fragmentOf(own.mjml, inner);
  if (!body) throw new ContentError('it has no mj-body');
  const mine = (range: Range): OutlinePiece => ({ ...textOf(own.mjml, range), from: 'own' });
  const head = inner.root && inner.head ? [mine(inner.head)] : [];
  const content = { ...findSlot(layout.mjml), pieces: [mine(body)] };
  const cuts = [...headCuts(layout.mjml, { head, inner, own: own.mjml }), content];
  const { before, after } = inner.root ? inner.outside : { before: [], after: [] };
  const pieces = [...before.map(mine), ...cutPieces(layout.mjml, cuts), ...after.map(mine)];
  return {
    mjml: pieces.map(({ text }) => text).join('\n'),
    warningsOf: warningsByPiece(pieces, own, layout),
  };
}

/** The whole of a source without `mjml`, in which only Liquid may stand between sections. */
function fragmentOf(own: string, { outside }: Outline): Range {
  for (const { start, end } of [...outside.before, ...outside.after]) {
    const text = mapLiquid(own.slice(start, end), { liquid: () => '' });
    if (text.trim() !== '') throw new ContentError('text stands outside of sections');
  }
  return { start: 0, end: own.length };
}

function findSlot(layout: string): Range {
  const all = layout.match(slot) ?? [];
  if (all.length > 1) throw new ContentError('holds {{ content }} more than once');
  const { sectionPlaces } = outlineOf(layout);
  for (const place of sectionPlaces) {
    const text = layout.slice(place.start, place.end);
    const at = text.search(slot);
    if (at < 0 || opensVerbatim.test(text)) continue;
    const start = place.start + at;
    return { start, end: start + (all[0]?.length ?? 0) };
  }
  throw new ContentError('does not hold {{ content }} in its mj-body, where sections may stand');
}

type OwnParts = { head: OutlinePiece[]; inner: Outline; own: string };

/** The changes of the layout's head, and of its root's language. */
function headCuts(layout: string, { head, inner, own }: OwnParts): Cut[] {
  const outer = outlineOf(layout);
  const cuts: Cut[] = outer.once
    .filter(({ name }) => inner.once.some((each) => each.name === name))
    .map(({ start, end }) => ({ start, end, pieces: [] }));
  const root = outer.root!;
  const language = languageOf(layout, root);
  const ownLanguage = inner.root && languageOf(own, inner.root);
  const spoken = ownLanguage ? [made(own.slice(ownLanguage.start, ownLanguage.end))] : [];
  if (language) cuts.push({ ...language, pieces: spoken });
  else if (spoken.length > 0) {
    const start = root.start + '<mjml'.length;
    cuts.push({ start, end: start, pieces: spoken });
  }
  if (head.length === 0) return cuts;
  if (outer.head) cuts.push({ start: outer.head.end, end: outer.head.end, pieces: head });
  else {
    const pieces = [made('<mj-head>'), ...head, made('</mj-head>')];
    cuts.push({ ...(outer.emptyHead ?? { start: root.end, end: root.end }), pieces });
  }
  return cuts;
}

const made = (text: string): OutlinePiece => ({ text, line: 1, from: 'layout' });

/** The `lang` attribute of a root. A layout's own would be wrong for a translation. */
function languageOf(mjml: string, root: Range): Range | undefined {
  const found = /\slang\s*=\s*("[^"]*"|'[^']*')/.exec(mjml.slice(root.start, root.end));
  if (!found) return undefined;
  const start = root.start + found.index;
  return { start, end: start + found[0].length };
}

/** The layout with other pieces in place of the cuts. */
function cutPieces(layout: string, cuts: readonly Cut[]): OutlinePiece[] {
  const pieces: OutlinePiece[] = [];
  let at = 0;
  for (const cut of cuts.toSorted((a, b) => a.start - b.start)) {
    pieces.push(
      { ...textOf(layout, { start: at, end: cut.start }), from: 'layout' },
      ...cut.pieces,
    );
    at = cut.end;
  }
  return [...pieces, { ...textOf(layout, { start: at, end: layout.length }), from: 'layout' }];
}

/** Pieces stand on lines of their own, so that each line is of one source. */
function warningsByPiece(
  pieces: readonly OutlinePiece[],
  own: MjmlSource,
  layout: MjmlSource,
): Whole['warningsOf'] {
  return (issues, isRendered) => {
    // Liquid has changed the lines: only the tag can be named.
    if (isRendered) return warningsOf(issues, 'tree');
    const placed = issues.map((issue) => ({ issue, ...placeOf(pieces, issue.line) }));
    const of = (from: OutlinePiece['from']) => placed.filter((each) => each.from === from);
    const mine = of('own').map(({ issue, line }) => ({ ...issue, line }));
    const outer = of('layout').map(({ issue, line }) => ({
      ...issue,
      line,
      message: `${issue.message} (in the layout)`,
    }));
    return [...warningsOf(mine, own.kind), ...warningsOf(outer, layout.kind)];
  };
}

function placeOf(
  pieces: readonly OutlinePiece[],
  line: number,
): { from: OutlinePiece['from']; line: number } {
  let first = 1;
  for (const piece of pieces) {
    const lines = piece.text.split('\n').length;
    if (line < first + lines) return { from: piece.from, line: piece.line + line - first };
    first += lines;
  }
  return { from: 'own', line };
}
