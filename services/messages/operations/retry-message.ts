import type { ConnectError } from '@connectrpc/connect';
import { BadRequestSchema } from '#gen/google/rpc/error_details_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Context, Methods } from '../context.ts';
import { uuid } from '../history/cursor.ts';
import { type MessageState, stateSql } from '../message-queries.ts';
import { Notification } from '../notification.ts';
import { openRequest, type RequestContent, sealRequest } from '../transactional/content.ts';
import { noProvider } from '../transactional/no-provider.ts';

export function retryMessage(context: Context): Methods['retryMessage'] {
  const { store, keyring, now, plans } = context;
  return async ({ workspaceId, id: given }) => {
    if (!uuid.test(given)) throw messageNotFound();
    const { settings } = await plans.settings(workspaceId);
    const ofSettings = settings?.transactionalEmailProviderId ?? '';
    const key = { workspaceId, id: given.toLowerCase() };
    try {
      const integrationId = await store.fork().transactional(async (em) => {
        const { request, isBounced, ...checked } = await checkedMessage(em, key);
        const content = await contentOf(keyring, key, request);
        // The sender of a mail with content of its own is one of its integration.
        const isBound = content.kind !== undefined;
        const integrationId = isBound ? checked.lastId : checked.integrationId || ofSettings;
        // The day in which it is tried begins now. Its notification may send to bounced addresses
        // since.
        content.send_at = now().toISOString();
        if (isBounced) content.send_to_bounced = true;
        if (integrationId === '') throw noProvider();
        await queueAgain(em, key, { request: sealRequest(keyring, key, content), integrationId });
        return integrationId;
      });
      return { success: true, integrationId };
    } catch (error) {
      throw isTaken(error) ? takenAgain() : error;
    }
  };
}

type Key = { workspaceId: string; id: string };

type RetriedRow = {
  state: MessageState;
  has_failed: boolean;
  is_welcome: boolean;
  notification_id: string | null;
  integration_id: string;
  is_bounced: boolean;
  is_expired: boolean;
  /** Null once what it is made from is gone. */
  request: Buffer | null;
  /** How many files it has, and whether it has a body. */
  files: number;
  has_body: boolean;
};

async function checkedMessage(
  em: EntityManager,
  key: Key,
): Promise<{ request: Buffer; isBounced: boolean; integrationId: string; lastId: string }> {
  const row = await lockMessage(em, key);
  const { state, notification_id: notification, is_bounced: isBounced, request } = row;
  if (notification === null)
    throw refusal('MESSAGE_STATUS', 'only transactional messages can be retried');
  if (row.is_expired)
    throw refusal('MESSAGE_STATUS', 'the time in which the message may be sent is over');
  if (!row.has_failed) throw refusal('MESSAGE_STATUS', `cannot retry a ${state} message`);
  if (row.is_welcome) throw refusal('MESSAGE_STATUS', welcomeText);
  const { sendsToBounced, integrationId } = await settingsOf(em, key.workspaceId, notification);
  if (isBounced && !sendsToBounced) {
    throw refusal(
      'MESSAGE_STATUS',
      'the address bounced, and the notification does not send to such addresses',
    );
  }
  if (request === null) throw refusal('MESSAGE_STATUS', goneText);
  if ((await keep(em, key, 'message_attachments')) !== row.files) {
    throw refusal('MESSAGE_STATUS', 'the attachments of the message are gone');
  }
  if (row.has_body && (await keep(em, key, 'message_bodies')) === 0) {
    throw refusal('MESSAGE_STATUS', 'the content of the message is gone');
  }
  return { request, isBounced, integrationId, lastId: row.integration_id };
}

const welcomeText =
  'a welcome cannot be retried: it comes again when the contact returns to the list';
const goneText = 'what the message is made from is gone';

/** Waits for a deletion of the contact, whose message has no address afterwards. */
async function lockMessage(em: EntityManager, { workspaceId, id }: Key): Promise<RetriedRow> {
  const [row] = await query<RetriedRow>(
    em,
    `select ${stateSql} as state, status = 'failed' as has_failed, notification_id, integration_id,
       list_id is not null and consent_at is not null and r.message_id is null as is_welcome,
       bounced_at is not null or exists (
         select from suppressions s where s.workspace_id = $1 and s.email = m.contact_email and s.reason = 'bounced'
       ) as is_bounced,
       coalesce(r.expires_at <= now(), status = 'expired') as is_expired,
       case when m.contact_email <> '' then r.request end as request,
       coalesce(jsonb_array_length(nullif(r.attachments, 'null')), 0) as files,
       coalesce(r.has_body, false) as has_body
     from messages m left join message_requests r on r.message_id = $2 and r.workspace_id = $1
     where m.id = $2 and m.workspace_id = $1
     for no key update of m`,
    [workspaceId, id],
  );
  if (!row) throw messageNotFound();
  return row;
}

/** Keeps them until the message is done again; gives how many there still are. */
async function keep(
  em: EntityManager,
  { workspaceId, id }: Key,
  table: 'message_attachments' | 'message_bodies',
): Promise<number> {
  const rows = await query(
    em,
    `update ${table} set erase_at = null where workspace_id = $1 and message_id = $2
     returning 1`,
    [workspaceId, id],
  );
  return rows.length;
}

/** The settings of a notification as they are now, or the defaults of a deleted one. */
async function settingsOf(
  em: EntityManager,
  workspaceId: string,
  id: string,
): Promise<{ sendsToBounced: boolean; integrationId: string }> {
  const notification = await em.findOne(Notification, { workspace_id: workspaceId, id });
  const { send_to_bounced: sendsToBounced = false, integration_id: integrationId = '' } =
    notification ?? {};
  return { sendsToBounced, integrationId };
}

async function contentOf(keyring: Keyring, key: Key, request: Buffer): Promise<RequestContent> {
  try {
    return await openRequest(keyring, key, request);
  } catch {
    throw refusal('MESSAGE_STATUS', goneText);
  }
}

/** As if it had been accepted now, under the same id. */
async function queueAgain(
  em: EntityManager,
  { workspaceId, id }: Key,
  { request, integrationId }: { request: Buffer; integrationId: string },
): Promise<void> {
  await query(
    em,
    `update messages set status = 'deferred', attempts = 0, unknown = 0, due_at = now(), failed_at = null,
       bounced_at = null, bounce_class = null, diagnostic = null, updated_at = now(), retried_at = now(), integration_id = $3
     where workspace_id = $1 and id = $2`,
    [workspaceId, id, integrationId],
  );
  await query(
    em,
    `update message_requests set due_at = now(), request = $3
     where workspace_id = $1 and message_id = $2`,
    [workspaceId, id, request],
  );
}

function isTaken(error: unknown): boolean {
  return (
    error instanceof Error && 'constraint' in error && error.constraint === 'messages_external_once'
  );
}

function takenAgain(): ConnectError {
  const description = 'external_id was used again by another message';
  const error = refusal('MESSAGE_REPEATED', description);
  const value = { fieldViolations: [{ field: 'external_id', description }] };
  error.details.push({ desc: BadRequestSchema, value });
  return error;
}

function messageNotFound(): ConnectError {
  return refusal('MESSAGE_NOT_FOUND', 'Message not found');
}
