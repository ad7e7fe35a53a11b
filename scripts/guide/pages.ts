import { globSync, readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { contracts } from '../../gateway/api/contracts.ts';
import { routesOf } from '../../gateway/api/routes.ts';
import { anchorsOf, relink } from './links.ts';
import { type Page, summaryOf, titleOf } from './page.ts';
import { operationPages } from './reference/operations.ts';
import { tablePages } from './reference/tables.ts';

export const root = resolve(import.meta.dirname, '../..');

/** Files beside `docs` that are pages of the guide. */
const others = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'bench/README.md',
  'clients/python/README.md',
  'clients/typescript/README.md',
  'deploy/README.md',
  'deploy/local/README.md',
];

export type Guide = {
  pages: readonly Page[];
  /** Files of `docs` that pages show, by their paths below the guide. */
  pictures: ReadonlyMap<string, string>;
};

/** Every page as its source has it. */
export function readGuide(): Guide {
  const documents = globSync('docs/**/*.md', { cwd: root });
  const written = [...others, ...documents].toSorted().map((source): Page => {
    const text = readFileSync(join(root, source), 'utf8');
    return { path: pathOf(source), source, text };
  });
  const routes = routesOf(contracts);
  const made = [...operationPages(routes), ...tablePages(routes)];
  const pages = [...written.map((page) => withMadePages(page, made)), ...made];
  const pictures = globSync('docs/**/*.{png,svg}', { cwd: root });
  return {
    pages: [...pages, operationsPage(pages)],
    pictures: new Map(pictures.map((file) => [file.replace(/^docs\//, ''), join(root, file)])),
  };
}

/** `docs/guides/README.md` is the first page of `guides`, as README.md is that of all. */
function pathOf(source: string): string {
  const path = source.replace(/^docs\//, '').toLowerCase();
  return path.replace(/(^|\/)readme\.md$/, '$1index.md');
}

/** The first page of a folder that has none: it leads to all pages of the folder. */
function operationsPage(pages: readonly Page[]): Page {
  const inside = pages.filter(({ path }) => posix.dirname(path) === 'operations');
  const text = `# Operations of an installation\n\n${linksTo(inside, 'operations')}\n`;
  return { path: 'operations/index.md', text };
}

/** The first page of the reference says what is made; the guide adds the links to it. */
function withMadePages(page: Page, made: readonly Page[]): Page {
  if (page.path !== 'reference/index.md') return page;
  const first = made.filter(
    ({ path }) => posix.dirname(path) === 'reference' || path.endsWith('/index.md'),
  );
  return { ...page, text: `${page.text}\n${linksTo(first, 'reference')}\n` };
}

function linksTo(pages: readonly Page[], folder: string): string {
  const lines = pages.map(
    (page) => `- [${titleOf(page)}](${posix.relative(folder, page.path)}): ${summaryOf(page)}`,
  );
  return lines.join('\n');
}

export type Addresses = {
  /** The begin of every address of a page or picture, such as `/guide/`. */
  base: string;
  /**
   * The begin of every address of a file of the repository; empty where it is not known.
   * test/links.test.ts looks whether these files are there.
   */
  source: string;
};

/** The pages with links for the guide. Throws, with all dead links, if there are any. */
export function linkedPages({ pages, pictures }: Guide, { base, source }: Addresses): Page[] {
  const byFile = new Map(pages.map((page) => [fileOf(page), page]));
  const dead: string[] = [];
  const pageOf = (file: string) =>
    byFile.get(file) ?? byFile.get(`${file}/README.md`) ?? byFile.get(`${file}/index.md`);
  const linked = pages.map((page) => {
    const from = fileOf(page);
    const text = relink(page.text, from, {
      inside(file, anchor) {
        const picture = file.replace(/^docs\//, '');
        if (pictures.has(picture)) return `${base}${picture}`;
        const found = pageOf(file);
        if (!found) return undefined;
        if (anchor && !anchorsOf(found.text).has(anchor)) dead.push(`${from}: ${file}#${anchor}`);
        return `${base}${found.path}${anchor && `#${anchor}`}`;
      },
      outside: (file) => (source === '' ? undefined : `${source.replace(/\/?$/, '/')}${file}`),
    });
    return { ...page, text };
  });
  if (dead.length > 0) throw new Error(`dead links:\n${dead.join('\n')}`);
  return linked;
}

/** The file of a page in the repository, or the one that a made page would have. */
const fileOf = ({ path, source }: Page) => source ?? `docs/${path}`;
