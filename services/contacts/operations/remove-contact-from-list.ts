import { Code, ConnectError, type ServiceImpl } from '@connectrpc/connect';
import type { ContactListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { removeMemberships } from '../consent/membership-queries.ts';
import { requireAddress } from '../contact/input.ts';
import type { Context } from '../context.ts';

export function removeContact({
  store,
  outbox,
  now,
}: Context): ServiceImpl<typeof ContactListService>['removeContactFromList'] {
  return async ({ workspaceId, email, listId }) => {
    const removal = { listId, emails: [requireAddress(email)], at: now() };
    const removed = await store
      .fork()
      .transactional((em) => removeMemberships({ em, outbox, workspaceId }, removal));
    if (removed === 0) throw new ConnectError('contact list not found', Code.NotFound);
    return { success: true };
  };
}
