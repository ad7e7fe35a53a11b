/// <reference types="vitepress/client" />
import { useData, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { defineComponent, h } from 'vue';
import './style.css';

/** Leads to the Markdown of a page, past the router, which would look for a page of that name. */
const SourceLink = defineComponent({
  setup() {
    const { page } = useData();
    return () =>
      page.value.isNotFound
        ? null
        : h('p', { class: 'source-link' }, [
            h(
              'a',
              { href: withBase(`/${page.value.relativePath}`), target: '_self' },
              'This page as Markdown',
            ),
          ]);
  },
});

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'doc-footer-before': () => h(SourceLink) }),
};
