import { ContactDeletedSchema } from '#gen/postrider/events/v1/contact_pb.ts';
import { typeOf } from '#lib/events/contracts.ts';
import { writeWithEvents } from '#lib/events/outbox.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
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
    await deleteAhead(store, workspaceId, address);
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

/** Of a statement. A contact may have more than one statement could delete in its time. */
const rowsMax = 5_000;

/** Deletes what a contact has very many of, until one statement can delete the rest. */
async function deleteAhead(store: Store, workspaceId: string, email: string): Promise<void> {
  const values = [workspaceId, email];
  for (;;) {
    const [has] = await store.read<{ entries: boolean; events: boolean }>(hasManySql, values);
    if (!has?.entries && !has?.events) return;
    await query(store.fork(), has.entries ? entriesSql : eventsSql, values);
  }
}

const ofContact = 'workspace_id = $1 and email = $2';

const hasMany = (table: string): string =>
  `exists (select from ${table} where ${ofContact} offset ${rowsMax})`;

const hasManySql = `select ${hasMany('timeline_entries')} as entries, ${hasMany('custom_events')} as events`;

const entriesSql = `
  delete from timeline_entries where ctid = any(array(
    select ctid from timeline_entries where ${ofContact} limit ${rowsMax}
  ))`;

/** In the order in which imports lock them. */
const eventsSql = `
  with own as materialized (
    select event_name, external_id from custom_events where ctid = any(array(
      select ctid from custom_events where ${ofContact} limit ${rowsMax}
    ))
    order by event_name collate "C", external_id collate "C" for update
  )
  delete from custom_events event using own
  where event.workspace_id = $1 and event.event_name = own.event_name and event.external_id = own.external_id`;
