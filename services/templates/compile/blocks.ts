import { type BlockItem, type Group, readBlocks, Unforeseeable } from './block-tree.ts';
import type { Protected } from './protect.ts';

/** MJML that compiles once, though Liquid stands around its blocks. */
export type FixedBlocks = {
  mjml: string;
  /** Liquid that comes before everything else. */
  before: string;
};

/**
 * In these a child looks the same whatever its siblings are, and raw content may stand between the
 * children.
 */
const independent = new Set(['mj-body', 'mj-wrapper', 'mj-column', 'mj-hero']);
/**
 * In these the children share a width or a frame, so each choice of children has to be compiled by
 * itself.
 */
const shared = new Set([
  'mj-section',
  'mj-group',
  'mj-social',
  'mj-navbar',
  'mj-accordion',
  'mj-accordion-element',
]);
/** Choices of children of one parent. */
const choicesMax = 8;
/** The source has up to 500 KiB, and each choice is a copy. */
const lengthMax = 1024 * 1024;
/** Where a condition is asked earlier than it stands, nothing may change its values in between. */
const setsValues = /\{%-?\s*(assign|capture|increment|decrement|cycle)\b/;

/**
 * Keeps the Liquid that wraps whole blocks as raw content, so that the MJML compiles once for all
 * recipients. Around columns and the like it is moved out, around a copy of their parent for each
 * choice. Undefined where Liquid makes blocks that only a recipient's values show.
 */
export function fixBlocks(hidden: Protected): FixedBlocks | undefined {
  try {
    return fix(readBlocks(hidden), hidden);
  } catch (error) {
    if (error instanceof Unforeseeable) return undefined;
    throw error;
  }
}

function fix(items: readonly BlockItem[], hidden: Protected): FixedBlocks {
  const before: string[] = [];
  /** Outside of the body only Liquid that sets values may stand, which has to come first. */
  const outer = (item: BlockItem): string => {
    if (item.kind === 'group') throw new Unforeseeable();
    if (item.kind === 'text') {
      if (item.isLiquid) before.push(item.text);
      return item.isLiquid ? '' : item.text;
    }
    if (item.name === 'mj-body') return textOf(settle(item, hidden));
    if (item.name !== 'mjml' && item.name !== 'mj-head') requirePlain(item);
    return item.open + item.items.map(outer).join('') + item.close;
  };
  const mjml = items.map(outer).join('');
  return { mjml, before: before.join('') };
}

function requirePlain({ items }: BlockItem & { kind: 'element' }): void {
  for (const item of items) {
    if (item.kind === 'element') requirePlain(item);
    else if (item.kind === 'group' || item.isLiquid) throw new Unforeseeable();
  }
}

/** An element whose Liquid is raw content, or the choices that stand in its place. */
function settle(item: BlockItem, hidden: Protected): BlockItem {
  if (item.kind === 'text') return item;
  if (item.kind === 'group') {
    const arms = item.arms.map((arm) => ({ ...arm, items: arm.items.map(settled) }));
    return { ...item, arms };
  }
  const items = item.items.map(settled);
  const wrap = (inner: readonly BlockItem[]): BlockItem => ({
    ...item,
    items: [plain(textsOf(inner))],
  });
  if (independent.has(item.name)) return wrap(items.map(asRaw));
  const groups = items.filter(({ kind }) => kind === 'group').length;
  if (groups > choicesMax) throw new Unforeseeable();
  if (groups === 0) {
    if (items.some(isLiquid)) throw new Unforeseeable();
    return wrap(items);
  }
  const isMovable = shared.has(item.name) && !setsValues.test(hidden.restore(sourceOf(item)));
  if (!isMovable || items.some(isLiquid)) throw new Unforeseeable();
  return choices(items, wrap, { left: choicesMax });

  function settled(child: BlockItem): BlockItem {
    return settle(child, hidden);
  }

  function asRaw(child: BlockItem): BlockItem {
    if (child.kind === 'group') return plain(rawGroup(child));
    return isLiquid(child) ? plain(raw(textOf(child))) : child;
  }

  function rawGroup({ arms, end }: Group): string {
    const inner = arms.map((arm) => raw(arm.tag) + textsOf(arm.items.map(asRaw)));
    return checked(inner.join('') + raw(end));
  }
}

/** The first group with all that follows it in each of its arms, and so on with the next. */
function choices(
  items: readonly BlockItem[],
  wrap: (inner: readonly BlockItem[]) => BlockItem,
  count: { left: number },
): BlockItem {
  const at = items.findIndex(({ kind }) => kind === 'group');
  const group = items[at];
  if (group?.kind !== 'group') {
    count.left -= 1;
    if (count.left < 0) throw new Unforeseeable();
    return wrap(items);
  }
  if (group.name === 'for') throw new Unforeseeable();
  const chosen = (inner: readonly BlockItem[]) => [
    choices([...items.slice(0, at), ...inner, ...items.slice(at + 1)], wrap, count),
  ];
  const arms = group.arms.map((arm) =>
    arm.name === 'case' ? { ...arm, items: [] } : { ...arm, items: chosen(arm.items) },
  );
  if (!arms.some(({ name }) => name === 'else')) {
    arms.push({ tag: '{% else %}', name: 'else', items: chosen([]) });
  }
  return { ...group, arms };
}

const isLiquid = (item: BlockItem) => item.kind === 'text' && item.isLiquid;
const plain = (text: string): BlockItem => ({ kind: 'text', text, isLiquid: false });
const raw = (text: string) => `<mj-raw>${text}</mj-raw>`;

function textOf(item: BlockItem): string {
  if (item.kind === 'text') return item.text;
  if (item.kind === 'group') throw new Unforeseeable();
  return checked(item.open + textsOf(item.items) + item.close);
}

function textsOf(items: readonly BlockItem[]): string {
  return checked(items.map(textOf).join(''));
}

function sourceOf(item: BlockItem): string {
  if (item.kind === 'text') return item.text;
  if (item.kind === 'element') return item.open + item.items.map(sourceOf).join('') + item.close;
  return item.arms.map(({ tag, items }) => tag + items.map(sourceOf).join('')).join('') + item.end;
}

function checked(text: string): string {
  if (text.length > lengthMax) throw new Unforeseeable();
  return text;
}
