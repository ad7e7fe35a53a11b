import { type Page, summaryOf, titleOf } from './page.ts';

/** Larger than this a file is of no use to its readers, and the build fails. */
export const llmsMaxBytes = 4 * 1_024 * 1_024;

const sections: readonly [title: string, isIn: (path: string) => boolean][] = [
  ['Guides', (path) => path === 'index.md' || path.startsWith('guides/')],
  ['Reference', (path) => path.startsWith('reference/')],
  ['Operations', (path) => path.startsWith('operations/') || path === 'deploy/index.md'],
  ['About', (path) => ['architecture.md', 'words.md', 'changelog.md'].includes(path)],
];

/** The list of pages for programs that read (llmstxt.org), with the addresses of their Markdown. */
export function llmsText(pages: readonly Page[], base: string): string {
  const lists = sections.map(([title, isIn]) => {
    const lines = pages
      .filter(({ path }) => isIn(path))
      .map((page) => `- [${titleOf(page)}](${base}${page.path}): ${summaryOf(page)}`);
    return `## ${title}\n\n${lines.join('\n')}`;
  });
  const text = `# Postrider

> Open-source infrastructure for transactional mail, newsletters and A/B-tested broadcasts, for many tenants, with signed webhooks.

All pages in one file: [llms-full.txt](${base}llms-full.txt). The API for programs: [openapi.json](/openapi.json).

${lists.join('\n\n')}
`;
  return bounded('llms.txt', text);
}

/** The guides, the reference and the pages for operators, one after the other. */
export function llmsFullText(pages: readonly Page[], base: string): string {
  const texts = sections.flatMap(([, isIn]) =>
    pages
      .filter(({ path }) => isIn(path) && path !== 'changelog.md')
      .map(({ path, text }) => `<!-- ${base}${path} -->\n\n${text.trim()}\n`),
  );
  return bounded('llms-full.txt', texts.join('\n'));
}

function bounded(name: string, text: string): string {
  const size = Buffer.byteLength(text);
  if (size > llmsMaxBytes)
    throw new Error(`${name} has ${size} bytes, and may have ${llmsMaxBytes}`);
  return text;
}
