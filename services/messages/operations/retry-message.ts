import { Code, ConnectError } from '@connectrpc/connect';
import { BadRequestSchema } from '#gen/google/rpc/error_details_pb.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Context, Methods } from '../context.ts';
import { uuid } from '../history/cursor.ts';
import { type MessageState, stateSql } from '../message-queries.ts';
import { Notification } from '../notification.ts';

export function retryMessage({ store }: Context): Methods['retryMessage'] {
  return async ({ workspaceId, id }) => {
    if (!uuid.test(id)) throw messageNotFound();
    const key = [workspaceId, id];
    try {
      await store.fork().transactional(async (em) => {
        await checkRetryable(em, workspaceId, await lockMessage(em, key));
        await queueAgain(em, key);
      });
    } catch (error) {
      throw isTaken(error) ? takenAgain() : error;
    }
    return { success: true };
  };
}

type Row = {
  state: MessageState;
  notification_id: string | null;
  is_bounced: boolean;
  has_request: boolean;
  has_files: boolean;
};

/** A sweep of the engine's, or a deletion of the contact, waits for the lock. */
async function lockMessage(em: EntityManager, key: readonly string[]): Promise<Row> {
  const [row] = await query<Row>(
    em,
    `select ${stateSql} as state, notification_id, bounced_at is not null as is_bounced,
       r.request is not null as has_request,
       coalesce(jsonb_array_length(nullif(r.attachments, 'null')), 0) = (
         select count(*) from message_attachments f where f.message_id = $2 and f.workspace_id = $1
       ) as has_files
     from messages m left join message_requests r on r.message_id = $2 and r.workspace_id = $1
     where m.id = $2 and m.workspace_id = $1
     for no key update of m`,
    key,
  );
  if (!row) throw messageNotFound();
  return row;
}

async function checkRetryable(em: EntityManager, workspaceId: string, row: Row): Promise<void> {
  const { state, notification_id: notification } = row;
  if (notification === null) throw refusal('only transactional messages can be retried');
  if (state !== 'failed' && state !== 'bounced') throw refusal(`cannot retry a ${state} message`);
  if (row.is_bounced && !(await sendsToBounced(em, workspaceId, notification))) {
    throw refusal('the address bounced, and the notification does not send to such addresses');
  }
  if (!row.has_request) throw refusal('what the message is made from is gone');
  if (!row.has_files) throw refusal('the attachments of the message are gone');
}

async function sendsToBounced(
  em: EntityManager,
  workspaceId: string,
  id: string,
): Promise<boolean> {
  const notification = await em.findOne(Notification, { workspace_id: workspaceId, id });
  return notification?.send_to_bounced ?? false;
}

/** As if it had been accepted now: tried for a day, under the same id. */
async function queueAgain(em: EntityManager, key: readonly string[]): Promise<void> {
  await query(
    em,
    `update messages set status = 'deferred', attempts = 0, due_at = now(), retried_at = now(),
       failed_at = null, bounced_at = null, updated_at = now()
     where workspace_id = $1 and id = $2`,
    key,
  );
  await query(
    em,
    'update message_requests set due_at = now() where workspace_id = $1 and message_id = $2',
    key,
  );
  await query(
    em,
    'update message_attachments set erase_at = null where workspace_id = $1 and message_id = $2',
    key,
  );
}

function isTaken(error: unknown): boolean {
  return (
    error instanceof Error && 'constraint' in error && error.constraint === 'messages_external_once'
  );
}

function takenAgain(): ConnectError {
  const description = 'external_id was used again by another message';
  return new ConnectError(description, Code.AlreadyExists, undefined, [
    {
      desc: BadRequestSchema,
      value: { fieldViolations: [{ field: 'external_id', description }] },
    },
  ]);
}

function refusal(text: string): ConnectError {
  return new ConnectError(text, Code.FailedPrecondition);
}

function messageNotFound(): ConnectError {
  return new ConnectError('Message not found', Code.NotFound);
}
