import PostalMime, { type Email } from 'postal-mime';
import { until } from '../stack/until.ts';
import type { TestStack } from '../stack.ts';

/** The newest mail to an address, once `count` have arrived. */
export async function untilMailed(
  { sink }: TestStack,
  email: string,
  count: number,
): Promise<Email> {
  let mails: string[] = [];
  await until(`${count} mails have arrived`, async () => {
    mails = await sink.bodies(email);
    return mails.length >= count;
  });
  return PostalMime.parse(Buffer.from(mails.at(-1) ?? '', 'latin1'));
}

/** The target of the link with this text. */
export function linkOf({ html = '' }: Email, text: string): string {
  const links = [...html.matchAll(/<a [^>]*?href="([^"]+)"[^>]*>([^<]*)<\/a>/g)];
  const href = links.find(([, , shown]) => shown?.trim() === text)?.[1];
  if (!href) throw new Error(`the mail has no link ${text}`);
  return href.replaceAll('&amp;', '&');
}

export function headerOf({ headers }: Email, name: string): string {
  return headers.find(({ key }) => key === name)?.value ?? '';
}
