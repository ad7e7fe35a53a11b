/** The colours of all pages, on light and on dark screens. Text has the browser's own. */
export const colours = {
  back: ['#f4f5f7', '#0f1215'],
  card: ['#fff', '#1b2026'],
  /** Between things that belong together. */
  line: ['#dfe3e8', '#37404a'],
  /** Around what takes input: 3:1 on both grounds, as WCAG asks. */
  edge: ['#7b8794', '#7b8794'],
  quiet: ['#52606d', '#a9b4c0'],
  /** Links, what is chosen, what has the focus, the first line of a plot. */
  accent: ['#1a56db', '#8ab4ff'],
  /** Buttons, and the text on them. */
  action: ['#1a56db', '#1a56db'],
  'action-hover': ['#1442ae', '#1442ae'],
  'on-action': ['#fff', '#fff'],
  good: ['#047857', '#34d399'],
  bad: ['#b42318', '#f97066'],
  warn: ['#8a6100', '#e0b64a'],
  /** What a bar fills. */
  track: ['#e4e7eb', '#303841'],
  /** Under a mail, which may have no ground of its own. */
  paper: ['#fff', '#fff'],
} satisfies Record<string, readonly [light: string, dark: string]>;

const variables = (at: 0 | 1) =>
  Object.entries(colours)
    .map(([name, pair]) => `--${name}: ${pair[at]};`)
    .join(' ');

/** The palette as variables of CSS, such as `var(--back)`. */
export const palette = `:root { color-scheme: light dark; ${variables(0)} }
@media (prefers-color-scheme: dark) { :root { ${variables(1)} } }
`;
