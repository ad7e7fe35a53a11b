import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';

const { navigation, version } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'settings.json'), 'utf8'),
);

/** As GitHub makes it, so that anchors of links are the same there. */
const slugify = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');

export default defineConfig({
  lang: 'en',
  title: 'Postrider',
  description: 'Transactional mail, newsletters and A/B tests for many tenants.',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  // Pages have the addresses that any file server gives them.
  cleanUrls: false,
  // Scripts of pages are files, so that the policy needs few hashes.
  metaChunk: true,
  // A phone need not load what nobody opens.
  router: { prefetchLinks: false },
  ignoreDeadLinks: false,
  markdown: {
    html: false,
    anchor: { slugify },
    // Vue would run what stands in double braces.
    config({ renderer: { rules } }) {
      const { code_inline } = rules;
      rules.code_inline = (tokens, index, ...rest) => {
        tokens[index]?.attrSet('v-pre', '');
        return code_inline?.(tokens, index, ...rest) ?? '';
      };
    },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  // The index of the search is one file.
  vite: { logLevel: 'warn', build: { chunkSizeWarningLimit: 2_000 } },
  themeConfig: {
    siteTitle: 'Postrider',
    outline: { level: [2, 3], label: 'On this page' },
    sidebar: navigation,
    nav: [
      { text: 'I want to …', link: '/guides/' },
      { text: 'Reference', link: '/reference/' },
      { text: 'Run it', link: '/deploy/' },
      { text: version, link: '/changelog' },
    ],
    search: { provider: 'local' },
    notFound: {
      title: 'There is no such page',
      quote: 'The search and the first page lead to all that there is.',
      linkText: 'To the first page',
    },
  },
});
