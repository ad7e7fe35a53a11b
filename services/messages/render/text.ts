import { convert } from 'html-to-text';
import { mapLiquid } from '#lib/liquid/spans.ts';

/** HTML beyond this is cut; a mail of this size is cut off by receivers anyway. */
const maximumInput = 2_000_000;
/** Elements within elements; what lies deeper is left out. Tables of newsletters go some 30 deep. */
const maximumDepth = 300;

/** The converter looks through all open elements for each that ends; 20 KB of a newsletter have some 200 tags. */
const maximumTags = 10_000;

/** Whether HTML is turned into text in milliseconds; longer HTML belongs in a thread that can be killed. */
export function convertsQuickly(html: string): boolean {
  let tags = 0;
  for (let at = html.indexOf('<'); at >= 0 && tags <= maximumTags; at = html.indexOf('<', at + 1))
    tags += 1;
  return tags <= maximumTags;
}

/** The text part of HTML. */
export function htmlToText(html: string): string {
  return convert(html, {
    wordwrap: false,
    limits: { maxInputLength: maximumInput, maxDepth: maximumDepth },
    selectors: [
      { selector: 'img', format: 'skip' },
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true, linkBrackets: ['(', ')'] } },
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
  const hidden = mapLiquid(html, {
    liquid: (liquid) => {
      if (/^\{%-?\s*(?:end)?safeurl\s*-?%\}$/.test(liquid)) return '';
      kept.push(liquid);
      return `\ue000${kept.length - 1}\ue001`;
    },
  });
  return htmlToText(hidden).replace(
    /\ue000(\d+)\ue001/g,
    (_mark, index) => kept[Number(index)] ?? '',
  );
}
