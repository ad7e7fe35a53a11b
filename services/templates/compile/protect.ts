import { randomBytes } from 'node:crypto';
import { ContentError } from './content-error.ts';

/** MJML whose Liquid is hidden from the XML parser behind words that mean nothing to it. */
export type Protected = {
  mjml: string;
  /** Puts the Liquid back, byte for byte. */
  restore(html: string): string;
  /** Whether Liquid stands between blocks, so that it may make blocks: then each recipient compiles. */
  makesBlocks: boolean;
};

/** Elements whose content MJML takes over as it is. */
const contentElements = new Set([
  'mj-text',
  'mj-button',
  'mj-raw',
  'mj-title',
  'mj-preview',
  'mj-style',
  'mj-table',
  'mj-social-element',
  'mj-navbar-link',
  'mj-accordion-title',
  'mj-accordion-text',
]);

export function protectLiquid(source: string): Protected {
  // A word that nobody can have written into the template.
  const nonce = `lq${randomBytes(8).toString('hex')}x`;
  const hidden: string[] = [];
  const mjml = source.replace(
    /\{%-?\s*(raw|comment)\s*-?%\}.*?\{%-?\s*end\1\s*-?%\}|\{\{.*?\}\}|\{%.*?%\}/gs,
    (liquid) => {
      hidden.push(liquid);
      return `${nonce}${hidden.length - 1}z`;
    },
  );
  const word = new RegExp(`${nonce}(\\d+)z`, 'g');
  return {
    mjml,
    makesBlocks: standsBetweenBlocks(mjml, nonce),
    restore: (html) => html.replace(word, (_, index: string) => hidden[Number(index)] ?? ''),
  };
}

/** Walks the tags of the MJML, which have to nest; what is left between structural tags may hold no hidden word. */
function standsBetweenBlocks(mjml: string, nonce: string): boolean {
  const tag = /<!--.*?-->|<(\/?)([a-zA-Z][\w-]*)((?:"[^"]*"|'[^']*'|[^"'>])*)>/gs;
  const open: string[] = [];
  let makesBlocks = false;
  let at = 0;
  for (const { 0: whole, 1: slash, 2: name = '', 3: attributes = '', index } of mjml.matchAll(
    tag,
  )) {
    const inContent = contentElements.has(open.at(-1) ?? '');
    const ends = slash === '/' && name === open.at(-1);
    if (inContent && !ends) continue;
    const between = inContent
      ? ''
      : mjml.slice(at, index) + attributes.replace(/"[^"]*"|'[^']*'/g, '');
    makesBlocks ||= between.includes(nonce);
    at = index + whole.length;
    if (name === '') continue;
    if (ends) open.pop();
    else if (slash === '/') throw new ContentError(`</${name}> closes nothing that is open`);
    else if (!attributes.endsWith('/')) open.push(name);
  }
  if (open.length > 0) throw new ContentError(`<${open.at(-1)}> is not closed`);
  return makesBlocks || mjml.slice(at).includes(nonce);
}
