import type { Transport } from '@connectrpc/connect';
import { html } from './html.ts';
import { button, paragraph } from './layout.ts';
import { about, linkPage, linkPath, type PageContent, type Visit } from './link.ts';
import type { Page } from './page.ts';
import { preferencesPrefix } from './preferences.ts';

/**
 * The page behind the unsubscribe link of a mail. The button, and mail programs by RFC 8058 with any
 * body, post to the same address.
 */
export function unsubscribePage(messages: Transport): Page {
  return linkPage(messages, { name: 'unsubscribe', prefix: '/u/', show, submit });
}

function show({ link, words }: Visit): PageContent {
  const question = link?.listName
    ? about(words.unsubscribeListQuestion, link.listName)
    : words.unsubscribeQuestion;
  return {
    title: words.unsubscribe,
    body: html`${paragraph(question)}${button(words.unsubscribeButton)}`,
  };
}

async function submit({ key, words, client, options }: Visit): Promise<PageContent> {
  await client.unsubscribeByLink(key, options);
  const preferences = linkPath(preferencesPrefix, key);
  return {
    title: words.unsubscribed,
    body: html`${paragraph(words.unsubscribedText)}<p><a href="${preferences}">${words.managePreferences}</a></p>`,
  };
}
