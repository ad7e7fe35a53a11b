import { compile, type DomNode, type FormatCallback } from 'html-to-text';
import { mapLiquid } from '#lib/liquid/spans.ts';
import { replaceAttributes } from './attributes.ts';
import { unescapeAttribute } from './links.ts';

/** HTML beyond this is cut; a mail of this size is cut off by receivers anyway. */
const maximumInput = 2_000_000;
/**
 * Elements within elements; what lies deeper is left out. Tables of newsletters go some 30 deep.
 */
const maximumDepth = 300;

/**
 * The converter looks through all open elements for each that ends; 20 KB of a newsletter have some
 * 200 tags.
 */
const maximumTags = 10_000;

/**
 * Whether HTML is turned into text in milliseconds; longer HTML belongs in a thread that can be
 * killed.
 */
export function convertsQuickly(html: string): boolean {
  let tags = 0;
  for (let at = html.indexOf('<'); at >= 0 && tags <= maximumTags; at = html.indexOf('<', at + 1))
    tags += 1;
  return tags <= maximumTags;
}

const blockTags = /^(div|p|table|h[1-6]|ul|ol|li|pre|blockquote|section|center)$/;

/** Each row of a table begins a line. */
const formatRow: FormatCallback = (row, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 1 });
  walk(row.children, builder);
  builder.closeBlock({ trailingLineBreaks: 1 });
};

/**
 * Separates a cell from the next one of its row: by a bar in tables of data, by a space in those
 * for layout.
 */
const formatCell: FormatCallback = (cell, walk, builder) => {
  walk(cell.children, builder);
  let { next } = cell as Linked;
  while (next && !isCell(next)) next = next.next;
  if (next) builder.addInline(isData(cell) ? ' | ' : ' ');
};

/** The parser links siblings, which the types leave out. */
type Linked = DomNode & { next?: Linked | null };

const isCell = ({ name }: DomNode) => name === 'td' || name === 'th';

function isData(cell: DomNode): boolean {
  if (cell.children?.some(({ name = '' }) => blockTags.test(name))) return false;
  let table: DomNode | null | undefined = cell.parent;
  for (let up = 0; up < 2 && table && table.name !== 'table'; up += 1) table = table.parent;
  const role = table?.attribs?.role;
  return role !== 'presentation' && role !== 'none';
}

/** Styles of what readers do not see, such as the preview line. */
const hiding =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all)\s*(?:!|;|$)/i;
const hidden = 'display:none';

/** One spelling of a hidden element, since selectors compare texts. */
function withHiddenMarked(html: string): string {
  return replaceAttributes(
    html,
    ({ name, value }) =>
      name === 'style' && hiding.test(unescapeAttribute(value)) ? hidden : undefined,
    { hasLiquid: false },
  );
}

/** An image stands for what it shows. */
const formatImage: FormatCallback = ({ attribs }, _walk, builder) => {
  const alt: string = attribs?.alt ?? '';
  if (alt.trim() !== '') builder.addInline(alt);
};

/**
 * Writes the text about a link after the link's words, which come without white space; `href` is
 * empty where the link has none.
 */
export type WriteAnchor = (href: string, words: string) => string;

/** The address in brackets, unless the words are the address or it leads to a place in the mail. */
export function plainAnchor(href: string, words: string): string {
  const address = href.replace(/^mailto:/, '');
  if (address === '' || address.startsWith('#') || address === words) return '';
  return words === '' ? ` ${address} ` : ` (${address})`;
}

const formatAnchor: FormatCallback = (link, walk, builder) => {
  const { write } = (builder as Builder).metadata;
  let words = '';
  builder.pushWordTransform((word) => {
    words += word;
    return word;
  });
  walk(link.children, builder);
  builder.popWordTransform();
  const written = write(link.attribs?.href ?? '', words);
  if (written !== '') builder.addInline(written, { noWordTransform: true });
};

/** Given to a conversion beside its HTML; the types leave it out. */
type Metadata = { write: WriteAnchor };
type Builder = Parameters<FormatCallback>[2] & { metadata: Metadata };

/**
 * The text part of HTML: what readers see of it, in lines. HTML with marks in place of values may
 * be longer than the mail that it stands for.
 */
export function htmlToText(
  html: string,
  write: WriteAnchor = plainAnchor,
  maxInputLength = maximumInput,
): string {
  return converterFor(maxInputLength)(withHiddenMarked(html), { write });
}

type Converter = (html: string, metadata: Metadata) => string;

const converters = new Map<number, Converter>();

/** Made once for a length, since its selectors take as long as a mail. */
function converterFor(maxInputLength: number): Converter {
  const known = converters.get(maxInputLength) ?? newConverter(maxInputLength);
  converters.set(maxInputLength, known);
  return known;
}

function newConverter(maxInputLength: number): Converter {
  return compile({
    wordwrap: false,
    formatters: {
      row: formatRow,
      cell: formatCell,
      image: formatImage,
      anchor: formatAnchor,
    },
    limits: { maxInputLength, maxDepth: maximumDepth },
    selectors: [
      { selector: 'img', format: 'image' },
      { selector: 'tr', format: 'row' },
      { selector: 'td', format: 'cell' },
      { selector: 'th', format: 'cell' },
      ...['head', 'title', 'style', 'script', 'template', '[hidden]', `[style="${hidden}"]`].map(
        (selector) => ({ selector, format: 'skip' }),
      ),
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
        selector,
        options: { uppercase: false },
      })),
    ],
  });
}

/**
 * The text part of HTML with its Liquid kept. The Liquid is hidden from the converter behind
 * characters of the private-use area, so that it neither wraps nor rewrites it.
 */
export function deriveText(html: string): string {
  const kept: string[] = [];
  const covered = mapLiquid(html, {
    liquid: (liquid) => {
      kept.push(liquid);
      return `\ue000${kept.length - 1}\ue001`;
    },
  });
  return htmlToText(covered).replace(
    /\ue000(\d+)\ue001/g,
    (_mark, index) => kept[Number(index)] ?? '',
  );
}
