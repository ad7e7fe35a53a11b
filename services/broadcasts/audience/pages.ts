import { Code, ConnectError } from '@connectrpc/connect';
import { Context as Activity } from '@temporalio/activity';
import type { ListAudienceResponse } from '#gen/postrider/contacts/v1/audience_pb.ts';
import type { Broadcast } from '../broadcast/broadcast.ts';
import type { Plan } from '../broadcast/row.ts';
import type { Peers } from '../peers.ts';
import { keepUnopened } from './unopened.ts';

const pageSizeMax = 10_000;
const sliceSizeMax = 5_000;
/** Smaller pages are not tried. */
const sizeMin = 200;
/** Long enough for a few pages, short enough that a change of the broadcast is seen soon. */
const gatherMaxMs = 2_000;

/** `nextAfterEmail` is the address that the next page starts after; empty on the last page. */
export type RecipientPage = Pick<
  ListAudienceResponse,
  'emails' | 'lists' | 'timezones' | 'nextAfterEmail'
>;
type ReaderPeers = Pick<Peers, 'audience' | 'facts'>;
type ReadPage = (afterEmail: string) => Promise<RecipientPage>;

/** At most a minute of sending, so that an activity ends and its result is seen. */
export function sliceSize({ rate_limit_per_minute: rate }: Plan): number {
  return Math.max(1, Math.min(sliceSizeMax, rate));
}

/** Each page of an audience without segments has whole slices, but for the last one. */
export function pageSize(plan: Plan): number {
  return pageSizeMax - (pageSizeMax % sliceSize(plan));
}

/**
 * Reads pages of an audience by the address that they start after. Segments and `not_opened_of`
 * leave pages short: these are put together until they fill one, for a while, so that slices are
 * not small without need.
 */
export function pageReader(peers: ReaderPeers, broadcast: Broadcast, plan: Plan): ReadPage {
  const read = shortPageReader(peers, broadcast, plan);
  const size = pageSize(plan);
  return async (afterEmail) => {
    const untilMs = Date.now() + gatherMaxMs;
    let page = await read(afterEmail);
    while (page.nextAfterEmail !== '' && page.emails.length < size && Date.now() < untilMs) {
      page = joined(page, await read(page.nextAfterEmail));
    }
    return page;
  };
}

function shortPageReader(
  { audience, facts }: ReaderPeers,
  { workspace_id: workspaceId, schedule, enqueued_count }: Broadcast,
  plan: Plan,
): ReadPage {
  const [listId = '', ...furtherListIds] = plan.lists.map((list) => list.id);
  const segmentIds = plan.segments ?? [];
  let size = pageSize(plan);
  const read = (afterEmail: string) =>
    audience.listAudience({
      ...{ workspaceId, listId, furtherListIds, segmentIds, afterEmail },
      includeUnsubscribed: plan.include_unsubscribed,
      pageSize: size,
      withTimezones: schedule.use_recipient_timezone,
    });
  // Many segments about messages take longer for a large page than a call may.
  const readInTime = async (afterEmail: string) => {
    for (;;) {
      try {
        return await read(afterEmail);
      } catch (error) {
        const isLate = ConnectError.from(error).code === Code.DeadlineExceeded;
        if (!isLate || segmentIds.length === 0 || size < sizeMin) throw error;
        size = Math.ceil(size / 4);
        Activity.current().heartbeat({ recipients: enqueued_count });
      }
    }
  };
  return async (afterEmail) => {
    const page = await readInTime(afterEmail);
    if (segmentIds.length > 0 && !page.bySegments) throw tooOld();
    // A contacts process from before segments does not say where to go on.
    const nextAfterEmail = page.nextAfterEmail || (page.emails[size - 1] ?? '');
    const found = { ...page, nextAfterEmail };
    if (plan.not_opened_of === undefined) return found;
    // Both calls together may take longer than an activity may be silent.
    Activity.current().heartbeat({ recipients: enqueued_count });
    return keepUnopened({ facts }, found, { workspaceId, broadcastId: plan.not_opened_of });
  };
}

/** The page of a contacts process from before segments has everybody in the list. */
function tooOld(): ConnectError {
  return new ConnectError('contacts does not know segments yet', Code.Unavailable);
}

function joined(page: RecipientPage, next: RecipientPage): RecipientPage {
  return {
    emails: [...page.emails, ...next.emails],
    lists: [...page.lists, ...next.lists],
    timezones: [...page.timezones, ...next.timezones],
    nextAfterEmail: next.nextAfterEmail,
  };
}
