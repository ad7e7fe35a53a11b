import { heartbeat } from '@temporalio/activity';
import type { ListAudienceResponse } from '#gen/postrider/contacts/v1/audience_pb.ts';
import type { BroadcastKey } from '../broadcast.ts';
import type { Plan, Schedule, TestSettings } from '../broadcast-row.ts';
import type { Peers } from '../peers.ts';

export type Frozen = Pick<Plan, 'lists' | 'include_unsubscribed' | 'rate_limit_per_minute'> & {
  schedule: Schedule;
  test: TestSettings;
};

export type Page = ListAudienceResponse;

type Asked = Pick<Peers, 'audience'>;
type Wanted = { key: BroadcastKey; frozen: Frozen; pageSize: number };

/**
 * Passes each page of an audience to `keep` with the number of recipients before it, and reads the next page
 * meanwhile. Returns the total.
 */
export async function eachPage(
  context: Asked,
  wanted: Wanted,
  keep: (page: Page, first: number) => Promise<void>,
): Promise<number> {
  const pageAfter = pageReader(context, wanted);
  let count = 0;
  let page: Page | undefined = await pageAfter('');
  while (page) {
    const lastEmail: string | undefined = page.emails[wanted.pageSize - 1];
    const next: Promise<Page> | undefined = lastEmail ? pageAfter(lastEmail) : undefined;
    const first = count;
    count += page.emails.length;
    [page] = await Promise.all([next, keep(page, first)]);
    heartbeat({ recipients: count });
  }
  return count;
}

function pageReader({ audience }: Asked, { key, frozen, pageSize }: Wanted) {
  const { lists, include_unsubscribed: includeUnsubscribed, schedule } = frozen;
  const [listId = '', ...furtherListIds] = lists.map((list) => list.id);
  return (afterEmail: string): Promise<Page> =>
    audience.listAudience({
      workspaceId: key.workspaceId,
      listId,
      furtherListIds,
      includeUnsubscribed,
      afterEmail,
      pageSize,
      withTimezones: schedule.use_recipient_timezone,
    });
}
