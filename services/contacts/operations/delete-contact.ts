import { writeWithEvents } from '#lib/jobs/outbox.ts';
import { lockContacts } from '../consent/membership-queries.ts';
import { requireAddress } from '../contact/input.ts';
import { contactDataSql, contactNotFound } from '../contact/queries.ts';
import type { Context, Methods } from '../context.ts';

export function deleteContact({ store, outbox, now }: Context): Methods['deleteContact'] {
  return async ({ workspaceId, email }) => {
    const address = requireAddress(email);
    const answer = await store.fork().transactional(async (em) => {
      await lockContacts(em, workspaceId, [address]);
      return writeWithEvents<{ deleted: number }>(
        { em, outbox, workspaceId },
        {
          steps: `left_lists as (
           delete from memberships where workspace_id = $1 and email = $2
         ),
         deleted as (
           delete from contacts where workspace_id = $1 and email = $2 returning *
         )`,
          events: [
            {
              types: ['contact.deleted'],
              occurredAt: '$3',
              data: contactDataSql,
              from: 'deleted contact',
            },
          ],
          answer: '(select count(*)::int from deleted) as deleted',
          values: [workspaceId, address, now()],
        },
      );
    });
    if (!answer?.deleted) throw contactNotFound();
    return { success: true };
  };
}
