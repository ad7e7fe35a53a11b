import { expect, test } from '@jest/globals';
import { variables as settings } from '#gen/variables.ts';
import { reasons } from '#lib/errors/reasons.ts';
import { publicEvents } from '#lib/events/contracts.ts';
import { engines } from '#lib/liquid/engine.ts';
import { variables } from '#lib/liquid/variables.ts';
import { resourceNames } from '#lib/quotas/resources.ts';
import { contracts } from '../../gateway/api/contracts.ts';
import { routesOf } from '../../gateway/api/routes.ts';
import { serviceLimits } from '../../gateway/docs/limits.ts';
import { relink } from '../../scripts/guide/links.ts';
import { llmsFullText, llmsMaxBytes, llmsText } from '../../scripts/guide/llms.ts';
import { navigationOf } from '../../scripts/guide/navigation.ts';
import { linkedPages, readGuide } from '../../scripts/guide/pages.ts';

const guide = readGuide();
const pages = linkedPages(guide, { base: '/guide/', source: '' });
const textOf = (path: string) => pages.find((page) => page.path === path)?.text ?? '';

test('every operation has an entry, with each of its errors', () => {
  const all = pages.filter(({ path }) => path.startsWith('reference/operations/'));
  const text = all.map((page) => page.text).join('\n');
  const paths = [...routesOf(contracts).keys()];
  expect(paths.length).toBeGreaterThan(140);
  expect(
    paths.filter((path) => !text.includes(`\` ${path}\``) && !text.includes(` ${path}\``)),
  ).toEqual([]);
  expect(textOf('reference/operations/lists.md')).toContain('`List not found`');
});

test('every reason of an error has an entry', () => {
  const text = textOf('reference/errors.md');
  expect(Object.keys(reasons).filter((reason) => !text.includes(`| \`${reason}\` |`))).toEqual([]);
});

test('every event has an entry, with its fields and an example', () => {
  const text = textOf('reference/events.md');
  const missing = publicEvents.filter(
    ({ type }) => !text.includes(`\n## \`${type}\`\n`) || !text.includes(`"type": "${type}"`),
  );
  expect(missing).toEqual([]);
});

test('every quota and every limit of a service has an entry', () => {
  const text = textOf('reference/limits.md');
  expect(resourceNames.filter((name) => !text.includes(`| \`${name}\` |`))).toEqual([]);
  const limits = serviceLimits.flatMap(([, rows]) => rows);
  expect(limits.filter(({ about }) => !text.includes(`| ${about} |`))).toEqual([]);
});

test('every variable, filter and tag of templates has an entry', () => {
  const text = textOf('reference/templates.md');
  const names = [...variables.map(({ name }) => name), ...Object.keys(engines.html.filters)];
  expect(names.filter((name) => !text.includes(`| \`${name}\` |`))).toEqual([]);
});

test('every setting has an entry', () => {
  const text = textOf('reference/settings.md');
  const names = settings.flatMap((group) => group.variables.map(({ name }) => name));
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !text.includes(`| \`${name}\``))).toEqual([]);
});

test('every guide is beside the pages, and every page has a title', () => {
  const links = JSON.stringify(navigationOf(pages));
  const left = pages
    .filter(({ path }) => !path.startsWith('decisions/'))
    .filter(({ path }) => !links.includes(`"/${path}"`));
  expect(left.map(({ path }) => path)).toEqual([
    'bench/index.md',
    'clients/python/index.md',
    'clients/typescript/index.md',
    'deploy/local/index.md',
  ]);
});

test('the texts for programs list every page of the guides and the reference, within a bound', () => {
  const list = llmsText(pages, '/guide/');
  const listed = pages.filter(({ path }) => /^(guides|reference)\//.test(path));
  expect(listed.filter(({ path }) => !list.includes(`(/guide/${path})`))).toEqual([]);
  const full = llmsFullText(pages, '/guide/');
  expect(full).toContain('<!-- /guide/guides/webhooks.md -->');
  expect(Buffer.byteLength(full)).toBeLessThan(llmsMaxBytes);
});

test('a link to a page that is not there is refused', () => {
  const wrong = { path: 'guides/wrong.md', text: '# Wrong\n\n[dead](webhooks.md#nowhere)' };
  expect(() =>
    linkedPages({ ...guide, pages: [...guide.pages, wrong] }, { base: '/', source: '' }),
  ).toThrow('dead links:\ndocs/guides/wrong.md: docs/guides/webhooks.md#nowhere');
});

test('a link to a file that no page shows leads to the source, or is its path', () => {
  const inside = () => undefined;
  const text = 'The [suite](../../test/clients) and `[code](of/it)`.';
  const known = { inside, outside: (file: string) => `https://git.example/${file}` };
  expect(relink(text, 'docs/guides/a.md', known)).toBe(
    'The [suite](https://git.example/test/clients) and `[code](of/it)`.',
  );
  const unknown = { inside, outside: () => undefined };
  expect(relink(text, 'docs/guides/a.md', unknown)).toBe(
    'The suite (`test/clients`) and `[code](of/it)`.',
  );
});
