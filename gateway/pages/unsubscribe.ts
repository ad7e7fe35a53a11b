import type { Transport } from '@connectrpc/connect';
import { html } from '#lib/html/template.ts';
import type { HtmlPage } from '../html/page.ts';
import { button, paragraph } from './layout.ts';
import { about, linkPage, linkPath, type PageContent, type Visit } from './link.ts';
import { preferencesPrefix } from './preferences.ts';
import type { Words } from './words/en.ts';

/**
 * The page behind the unsubscribe link of a mail. The button, and mail programs by RFC 8058 with
 * any body, post to the same address.
 */
export function unsubscribePage(messages: Transport): HtmlPage {
  return linkPage(messages, { name: 'unsubscribe', prefix: '/u/', show, submit });
}

function show({ link, words }: Visit): PageContent {
  return {
    title: words.unsubscribe,
    body: html`${paragraph(questionOf(link, words))}${button(words.unsubscribeButton)}`,
  };
}

function questionOf(link: Visit['link'], words: Words): string {
  if (link?.leavesAll) return words.unsubscribeAllQuestion;
  if (link?.listName) return about(words.unsubscribeListQuestion, link.listName);
  return words.unsubscribeQuestion;
}

async function submit({ key, link, words, client, options }: Visit): Promise<PageContent> {
  await client.unsubscribeByLink(key, options);
  const done = link?.leavesAll ? words.unsubscribedAllText : words.unsubscribedText;
  const preferences = linkPath(preferencesPrefix, key);
  return {
    title: words.unsubscribed,
    body: html`${paragraph(done)}<p><a href="${preferences}">${words.managePreferences}</a></p>`,
  };
}
