import { ContactDeletedSchema } from '#gen/postrider/events/v1/contact_pb.ts';
import { typeOf } from '#lib/events/contracts.ts';
import { writeWithEvents } from '#lib/events/outbox.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { momentSql, momentStep } from '../changes/moment.ts';
import { touches, touchStep } from '../changes/touch.ts';
import { lockContacts } from '../consent/membership-queries.ts';
import { rememberSteps } from '../consent/refusals.ts';
import { requireAddress } from '../contact/input.ts';
import { contactDataSql, contactNotFound } from '../contact/queries.ts';
import type { Context, Methods } from '../context.ts';

export function deleteContact({ store, outbox }: Context): Methods['deleteContact'] {
  return async ({ workspaceId, email }, call) => {
    const address = requireAddress(email);
    const answer = await store.fork().transactional(async (em) => {
      await lockContacts(em, workspaceId, [address]);
      const answer = await writeWithEvents<{ deleted: number }>(
        { em, outbox, workspaceId },
        {
          steps: `left_lists as (
           delete from memberships where workspace_id = $1 and email = $2
           returning list_id, status, updated_at
         ),
         ${rememberSteps({ workspace: '$1', email: '$2' })},
         gone_entries as (
           delete from timeline_entries where workspace_id = $1 and email = $2
         ),
         -- In the order in which imports lock them.
         own_events as materialized (
           select event_name, external_id from custom_events where workspace_id = $1 and email = $2
           order by event_name collate "C", external_id collate "C" for update
         ),
         gone_events as (
           delete from custom_events event using own_events own
           where event.workspace_id = $1 and event.event_name = own.event_name and event.external_id = own.external_id
         ),
         deleted as (
           delete from contacts where workspace_id = $1 and email = $2 returning *
         ),
         ${touchStep({
           workspace: '$1',
           rows: `select email, '{${touches.all}}'::text[] as touched from deleted`,
         })},
         ${momentStep('deleted')}`,
          events: [
            {
              types: [typeOf(ContactDeletedSchema)],
              occurredAt: momentSql,
              data: contactDataSql,
              from: 'deleted contact',
            },
          ],
          answer: '(select count(*)::int from deleted) as deleted',
        },
        [workspaceId, address],
      );
      if (answer?.deleted) await recordChange(em, call);
      return answer;
    });
    if (!answer?.deleted) throw contactNotFound();
    return { success: true };
  };
}
