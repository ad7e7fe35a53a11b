import type { Protected } from './protect.ts';
import { mjmlTags } from './tags.ts';

/** MJML with its Liquid told apart: what stands in one parent. */
export type BlockItem =
  /** MJML as it is: an element without blocks, text, or Liquid that only sets values. */
  | { kind: 'text'; text: string; isLiquid: boolean }
  | { kind: 'element'; name: string; open: string; close: string; items: BlockItem[] }
  | Group;

/** Liquid around blocks, such as `if` with its arms up to `endif`. */
export type Group = { kind: 'group'; name: string; arms: Arm[]; end: string };

/** A tag and what follows it. */
export type Arm = { tag: string; name: string; items: BlockItem[] };

/** Thrown where Liquid makes blocks in ways that are known only when it is rendered. */
export class Unforeseeable extends Error {}

/** Blocks within blocks, and groups within groups; MJML itself allows a handful. */
const depthMax = 50;
/** Tags that begin an arm of a group. */
const armTags = /^(elsif|else|when)$/;
const groupTags = /^(if|unless|case|for)$/;

type Piece = { kind: 'liquid'; word: string; name: string } | { kind: 'other'; item: BlockItem };
type Frame = { name: string; open: string; pieces: Piece[] };

/** Reads hidden MJML, whose tags nest. */
export function readBlocks({ mjml, words, restore }: Protected): BlockItem[] {
  const frames: Frame[] = [{ name: '', open: '', pieces: [] }];
  const top = () => frames.at(-1) ?? { name: '', open: '', pieces: [] };
  const liquid = (word: string): Piece => ({ kind: 'liquid', word, name: tagName(restore(word)) });
  const addText = (text: string) => {
    let at = 0;
    for (const found of text.matchAll(words)) {
      addPlain(top().pieces, text.slice(at, found.index));
      top().pieces.push(liquid(found[0]));
      at = found.index + found[0].length;
    }
    addPlain(top().pieces, text.slice(at));
  };
  let at = 0;
  for (const { start, end, name, kind, attributes } of mjmlTags(mjml)) {
    addText(mjml.slice(at, start));
    at = end;
    const text = mjml.slice(start, end);
    if (attributes.replace(/"[^"]*"|'[^']*'/g, '').search(words) >= 0) throw new Unforeseeable();
    if (frames.length > depthMax) throw new Unforeseeable();
    if (kind === 'opens') frames.push({ name, open: text, pieces: [] });
    else if (kind === 'closes') {
      const { name: opened, open, pieces } = frames.pop() ?? top();
      const items = grouped(pieces);
      const item: BlockItem = { kind: 'element', name: opened, open, close: text, items };
      top().pieces.push({ kind: 'other', item });
    } else top().pieces.push({ kind: 'other', item: { kind: 'text', text, isLiquid: false } });
  }
  addText(mjml.slice(at));
  return grouped(top().pieces);
}

function addPlain(pieces: Piece[], text: string): void {
  if (text === '') return;
  pieces.push({ kind: 'other', item: { kind: 'text', text, isLiquid: false } });
}

function tagName(liquid: string): string {
  return /^\{%-?\s*(#|\w+)/.exec(liquid)?.[1] ?? '';
}

/** The items of one parent: each group has to end where it began. Comments are left out. */
function grouped(pieces: readonly Piece[]): BlockItem[] {
  const open: { group: Group; items: BlockItem[] }[] = [];
  const all: BlockItem[] = [];
  const items = () => open.at(-1)?.items ?? all;
  for (let at = 0; at < pieces.length; at += 1) {
    const piece = pieces[at];
    if (piece?.kind === 'other') items().push(piece.item);
    if (piece?.kind !== 'liquid') continue;
    const { word, name } = piece;
    const current = open.at(-1);
    if (open.length > depthMax) throw new Unforeseeable();
    if (groupTags.test(name)) {
      const first: Arm = { tag: word, name, items: [] };
      const group: Group = { kind: 'group', name, arms: [first], end: '' };
      items().push(group);
      open.push({ group, items: first.items });
    } else if (current && armTags.test(name)) {
      current.items = [];
      current.group.arms.push({ tag: word, name, items: current.items });
    } else if (current && name === `end${current.group.name}`) {
      current.group.end = word;
      open.pop();
    } else if (name === 'assign') items().push({ kind: 'text', text: word, isLiquid: true });
    else if (name === 'capture') {
      let end = at + 1;
      while (end < pieces.length && !isCaptureEnd(pieces[end])) end += 1;
      items().push(captured(pieces.slice(at, end + 1)));
      at = end;
    } else if (name !== 'comment' && name !== '#') throw new Unforeseeable();
  }
  if (open.length > 0) throw new Unforeseeable();
  return all;
}

function isCaptureEnd(piece: Piece | undefined): boolean {
  return piece?.kind === 'liquid' && piece.name === 'endcapture';
}

/** A capture of text; captured blocks would be MJML where they are shown. */
function captured(pieces: readonly Piece[]): BlockItem {
  if (!isCaptureEnd(pieces.at(-1))) throw new Unforeseeable();
  const texts = pieces.map((piece) => {
    if (piece.kind === 'liquid') return piece.word;
    if (piece.item.kind !== 'text' || piece.item.text.includes('<')) throw new Unforeseeable();
    return piece.item.text;
  });
  return { kind: 'text', text: texts.join(''), isLiquid: true };
}
