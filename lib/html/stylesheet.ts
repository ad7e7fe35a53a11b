import { createHash } from 'node:crypto';
import { palette } from './palette.ts';

/** The whole style of a page, and the source by which a policy allows it. */
export type Stylesheet = { readonly text: string; readonly source: string };

const base = `* { box-sizing: border-box; }
body { margin: 0; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
`;

/** Rules after the palette and what all pages share. */
export function stylesheet(...rules: readonly string[]): Stylesheet {
  const text = `\n${palette}${base}${rules.join('')}`;
  const hash = createHash('sha256').update(text).digest('base64');
  return { text, source: `'sha256-${hash}'` };
}
