import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { html } from '#lib/html/template.ts';
import type { HtmlPage } from '../html/page.ts';
import { button, paragraph } from './layout.ts';
import { about, expired, linkPage, type PageContent, type Visit } from './link.ts';
import type { Words } from './words/en.ts';

/** The page behind the link of a confirmation mail. */
export function confirmPage(messages: Transport): HtmlPage {
  return linkPage(messages, { name: 'confirm', prefix: '/c/', show, submit });
}

function show({ link, words }: Visit): PageContent {
  const membership = link?.subscriptions.find(({ listId }) => listId === link.listId);
  if (membership?.status === MembershipStatus.ACTIVE) return confirmed(words);
  if (link?.expired) return expired(words);
  return {
    title: words.confirm,
    body: html`${link?.listName ? paragraph(about(words.confirmQuestion, link.listName)) : ''}${button(words.confirmButton)}`,
  };
}

async function submit({ key, words, client, options }: Visit): Promise<PageContent> {
  try {
    await client.confirmByLink(key, options);
  } catch (error) {
    if (ConnectError.from(error).code === Code.FailedPrecondition) return expired(words);
    throw error;
  }
  return confirmed(words);
}

const confirmed = (words: Words): PageContent => ({
  title: words.confirmed,
  body: paragraph(words.confirmedText),
});
