import { posix } from 'node:path';
import { type Page, titleOf } from './page.ts';

export type Entry = { text: string; link?: string; collapsed?: boolean; items?: Entry[] };

/** The pages in the order in which somebody new reads them. */
const groups: readonly [title: string, paths: readonly string[]][] = [
  ['Start', ['index.md', 'guides/index.md', 'guides/first-mail.md']],
  [
    'Send',
    [
      'guides/newsletters.md',
      'guides/ab-tests.md',
      'guides/transactional.md',
      'guides/send-by-smtp.md',
      'guides/welcome.md',
      'guides/why-no-mail.md',
    ],
  ],
  [
    'Contacts and consent',
    [
      'guides/contacts-in-and-out.md',
      'guides/forms-and-pages.md',
      'guides/segments.md',
      'guides/custom-events.md',
      'guides/personal-data.md',
    ],
  ],
  [
    'Integrate',
    [
      'guides/api-keys.md',
      'guides/webhooks.md',
      'guides/webhook-signatures.md',
      'guides/n8n-and-zapier.md',
      'reference/clients.md',
    ],
  ],
  ['Move here', ['guides/moving-here.md', 'guides/domains-and-reports.md']],
];

const reference = [
  'index',
  'operations/index',
  'errors',
  'events',
  'limits',
  'templates',
  'settings',
].map((name) => `reference/${name}.md`);

/** The links beside the pages, by their folder. Throws if a guide is in none of the groups. */
export function navigationOf(pages: readonly Page[]): Record<string, Entry[]> {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const entry = (path: string): Entry => {
    const page = byPath.get(path);
    if (!page) throw new Error(`there is no page ${path}`);
    return { text: titleOf(page), link: `/${path}` };
  };
  const rest = (folder: string, without: readonly string[]) =>
    pages
      .map(({ path }) => path)
      .filter((path) => posix.dirname(path) === folder && !without.includes(path));
  const named = groups.flatMap(([, paths]) => paths);
  const missing = rest('guides', named);
  if (missing.length > 0) throw new Error(`no group has ${missing.join(', ')}`);
  const section = (text: string, paths: readonly string[]): Entry => ({
    text,
    collapsed: true,
    items: paths.map(entry),
  });
  const shown = [...named, ...reference];
  const main = [
    ...groups.map(([text, paths]) => ({ text, items: paths.map(entry) })),
    {
      text: 'Reference',
      items: [...reference, ...rest('reference', shown)].map(entry),
    },
    section('Operations by resource', rest('reference/operations', shown)),
    section('Run it', ['deploy/index.md', ...rest('operations', [])]),
    section('About', [
      'architecture.md',
      'words.md',
      'changelog.md',
      'contributing.md',
      'security.md',
      'decisions/index.md',
    ]),
  ];
  const decisions = ['decisions/index.md', ...rest('decisions', ['decisions/index.md'])];
  return { '/decisions/': [{ text: 'Decisions', items: decisions.map(entry) }], '/': main };
}
