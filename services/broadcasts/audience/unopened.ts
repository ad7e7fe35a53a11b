import type { CallOptions } from '@connectrpc/connect';
import type { Peers } from '../peers.ts';

type Page = { emails: string[]; lists: number[]; timezones: string[] };

/** The page without those who did not get a broadcast, and those who opened it. */
export async function keepUnopened<Found extends Page>(
  { facts }: Pick<Peers, 'facts'>,
  page: Found,
  broadcast: { workspaceId: string; broadcastId: string },
  options?: CallOptions,
): Promise<Found> {
  if (page.emails.length === 0) return page;
  const { emails } = await facts.listUnopened({ ...broadcast, emails: page.emails }, options);
  const unopened = new Set(emails);
  const isKept = (_: unknown, place: number) => unopened.has(page.emails[place] ?? '');
  return {
    ...page,
    emails: page.emails.filter(isKept),
    lists: page.lists.filter(isKept),
    timezones: page.timezones.filter(isKept),
  };
}
