import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { mapLiquid } from '#lib/liquid/spans.ts';
import { ContentError } from './content-error.ts';

const depthMax = 32;
const blocksMax = 5_000;

const types = new Set(
  `mjml mj-body mj-wrapper mj-section mj-column mj-group mj-text mj-button mj-image mj-divider mj-spacer
   mj-social mj-social-element mj-head mj-attributes mj-breakpoint mj-font mj-html-attributes mj-preview
   mj-style mj-title mj-raw mj-liquid mj-all mj-class`.split(/\s+/),
);
/** These hold markup; the content of all others is text. */
const markupTypes = new Set(['mj-text', 'mj-button', 'mj-raw', 'mj-style', 'mj-liquid']);

/** The MJML of a visual editor's block tree. */
export function treeToMjml(tree: JsonObject): string {
  if (tree.type !== 'mjml') throw new ContentError("visual_editor_tree must have type 'mjml'");
  if (!Array.isArray(tree.children)) {
    throw new ContentError('visual_editor_tree root block must have children');
  }
  return blockToMjml(tree, 1, { blocks: 0 });
}

/** Throws where a block, or one inside of it, is none that a tree may hold. */
export function checkTree(block: JsonObject): void {
  blockToMjml(block, 1, { blocks: 0 });
}

function blockToMjml(block: JsonValue, depth: number, seen: { blocks: number }): string {
  if (block === null || typeof block !== 'object' || Array.isArray(block)) {
    throw new ContentError('every block of visual_editor_tree must be an object');
  }
  seen.blocks += 1;
  if (seen.blocks > blocksMax) throw new ContentError(`a tree has at most ${blocksMax} blocks`);
  if (depth > depthMax) throw new ContentError(`a tree is at most ${depthMax} blocks deep`);
  const { type, children, content } = block;
  if (typeof type !== 'string' || !types.has(type)) {
    throw new ContentError(`unknown block type: ${String(type).slice(0, 50)}`);
  }
  const text = typeof content === 'string' ? content : '';
  // MJML and Liquid that an author wrote are kept as they are.
  if (type === 'mj-liquid') return text;
  const inner = (Array.isArray(children) ? children : []).map((child) =>
    blockToMjml(child, depth + 1, seen),
  );
  const body = (markupTypes.has(type) ? text : escapeText(text)) + inner.join('');
  return `<${type}${attributesOf(block)}>${body}</${type}>`;
}

function attributesOf({ attributes }: JsonObject): string {
  if (attributes === null || typeof attributes !== 'object' || Array.isArray(attributes)) return '';
  return Object.entries(attributes)
    .filter(([name]) => name !== 'visibility' && /^[A-Za-z][A-Za-z0-9-]*$/.test(name))
    .map(([name, value]) => attributeText(kebabCase(name), value))
    .join('');
}

/** `backgroundColor` is `background-color`. */
function kebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function attributeText(name: string, value: JsonValue): string {
  if (value === true) return ` ${name}="${name}"`;
  if (value === '' || (typeof value !== 'string' && typeof value !== 'number')) return '';
  return ` ${name}="${escapeAttribute(String(value))}"`;
}

/** Liquid may hold any of these and is left alone. */
function outsideLiquid(text: string, change: (plain: string) => string): string {
  return mapLiquid(text, { plain: change });
}

export function escapeText(text: string): string {
  return outsideLiquid(text, (plain) =>
    plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  );
}

function escapeAttribute(text: string): string {
  return outsideLiquid(text, (plain) => plain.replaceAll('"', '&quot;'));
}
