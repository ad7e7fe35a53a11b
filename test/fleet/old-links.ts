import { headerOf, linkOf, untilMailed } from '../pages/inbox.ts';
import type { TestStack } from '../stack.ts';

/** The links of a mail that the last release has sent. */
export type OldLinks = { email: string; tracked: string; leave: string; oneClick: string };

export async function linksOfMail(stack: TestStack, emails: readonly string[]): Promise<OldLinks> {
  // The sink keeps the newest mails only.
  const wanted = new Set(emails);
  const email = stack.mails().findLast((mail) => wanted.has(mail.email))?.email ?? '';
  const mail = await untilMailed(stack, email, 1);
  const [oneClick = ''] = /https?:[^>]+/.exec(headerOf(mail, 'list-unsubscribe')) ?? [];
  return { email, tracked: linkOf(mail, 'News'), leave: linkOf(mail, 'Leave'), oneClick };
}

/** Returns the links that fail; the last one unsubscribes the recipient. */
export async function linkProblems({ tracked, leave, oneClick }: OldLinks): Promise<string[]> {
  const followed = await fetch(tracked, { redirect: 'manual' });
  const target = followed.headers.get('location') ?? '';
  const page = await fetch(leave);
  const posted = await fetch(oneClick, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  });
  return [
    ...(target.startsWith('https://example.com/news') ? [] : [`an old link leads to ${target}`]),
    ...(page.status === 200 ? [] : [`the page of an old link is a ${page.status}`]),
    ...(posted.status === 200 ? [] : [`an old one-click link is a ${posted.status}`]),
  ];
}
