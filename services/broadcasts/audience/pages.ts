import type { ListAudienceResponse } from '#gen/postrider/contacts/v1/audience_pb.ts';
import type { Broadcast } from '../broadcast.ts';
import type { Plan } from '../broadcast-row.ts';
import type { Peers } from '../peers.ts';

const pageSizeMax = 10_000;
const sliceSizeMax = 5_000;

export type Page = ListAudienceResponse;

/** At most a minute of sending, so that an activity ends and its result is seen. */
export function sliceSize({ rate_limit_per_minute: rate }: Plan): number {
  return Math.max(1, Math.min(sliceSizeMax, rate));
}

/** Each page has whole slices, but for the last one. */
export function pageSize(plan: Plan): number {
  return pageSizeMax - (pageSizeMax % sliceSize(plan));
}

/** Reads pages of an audience by the address that they start after. */
export function pageReader(
  { audience }: Pick<Peers, 'audience'>,
  { workspace_id: workspaceId, schedule }: Broadcast,
  plan: Plan,
): (afterEmail: string) => Promise<Page> {
  const [listId = '', ...furtherListIds] = plan.lists.map((list) => list.id);
  return (afterEmail) =>
    audience.listAudience({
      workspaceId,
      listId,
      furtherListIds,
      includeUnsubscribed: plan.include_unsubscribed,
      afterEmail,
      pageSize: pageSize(plan),
      withTimezones: schedule.use_recipient_timezone,
    });
}
