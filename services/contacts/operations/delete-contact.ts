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

/** Deletes the entries and events of a contact that has very many of them. */
async function deleteAhead(store: Store, workspaceId: string, email: string): Promise<void> {
  const values = [workspaceId, email];
  const [has] = await store.read<{ entries: boolean; events: boolean }>(
    `select ${hasMany('timeline_entries')} as entries, ${hasMany('custom_events')} as events`,
    values,
  );
  if (has?.entries) await deleteMost(store, entriesSql, values);
  if (has?.events) await deleteMost(store, eventsSql, values);
}

async function deleteMost(store: Store, sql: string, values: readonly string[]): Promise<void> {
  for (;;) {
    const [row] = await query<{ count: number }>(store.fork(), sql, values);
    if ((row?.count ?? 0) < rowsMax) return;
  }
}

const ofContact = 'workspace_id = $1 and email = $2';

const hasMany = (table: string): string =>
  `exists (select from ${table} where ${ofContact} offset ${rowsMax})`;

const entriesSql = `
  with gone as (
    delete from timeline_entries where ctid = any(array(
      select ctid from timeline_entries where ${ofContact} limit ${rowsMax}
    )) returning 1
  )
  select count(*)::int as count from gone`;

/** In the order in which imports lock them. */
const eventsSql = `
  with own as materialized (
    select event_name, external_id from custom_events where ctid = any(array(
      select ctid from custom_events where ${ofContact} limit ${rowsMax}
    ))
    order by event_name collate "C", external_id collate "C" for update
  ), gone as (
    delete from custom_events event using own
    where event.workspace_id = $1 and event.event_name = own.event_name and event.external_id = own.external_id
    returning 1
  )
  select count(*)::int as count from gone`;
