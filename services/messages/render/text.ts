import { convert } from 'html-to-text';
import { mapLiquid } from '#lib/liquid/spans.ts';

/** HTML beyond this is cut; a mail of this size is cut off by receivers anyway. */
const maximumInput = 2_000_000;

/** The text part of HTML. */
export function htmlToText(html: string): string {
  return convert(html, {
    wordwrap: false,
    limits: { maxInputLength: maximumInput },
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
 * The text part of HTML with its Liquid kept. What the Liquid says is hidden from the converter behind
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
