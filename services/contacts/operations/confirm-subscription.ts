import type { ServiceImpl } from '@connectrpc/connect';
import type { SubscriberService } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { changeMemberships } from '../consent/membership-queries.ts';
import type { Context } from '../context.ts';

export function confirm({
  store,
  outbox,
  now,
}: Context): ServiceImpl<typeof SubscriberService>['confirmSubscription'] {
  return async ({ workspaceId, email, listId }) => {
    const change = { cause: 'confirm', targets: [{ email, listId }], at: now() } as const;
    await store
      .fork()
      .transactional((em) => changeMemberships({ em, outbox, workspaceId }, change));
    return {};
  };
}
