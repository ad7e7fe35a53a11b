import { Code, ConnectError } from '@connectrpc/connect';
import { EmailUnsubscribedSchema } from '#gen/postrider/events/v1/email_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { type Outbox, writeWithEvents } from '#lib/events/outbox.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { confirmableMs } from '../record/confirmations.ts';
import { eventsOf } from '../record/events.ts';
import { countStep } from '../record/variation-counts.ts';
import { readToken } from './token.ts';

/** The message that contained a link. */
export type LinkedMessage = {
  id: string;
  email: string;
  /** Empty for transactional mail, and for a broadcast to segments alone. */
  listId: string;
  /** Of a broadcast to segments alone: unsubscribing leaves all mail. */
  leavesAll: boolean;
  isConfirmation: boolean;
  isExpired: boolean;
};

/**
 * Finds the message of a link's token; undefined if the contact or the message is gone. Throws for
 * a forged token.
 */
export async function findLinked(
  { store, keyring, now }: { store: Store; keyring: Keyring; now: () => Date },
  { workspaceId, token }: { workspaceId: string; token: string },
): Promise<LinkedMessage | undefined> {
  const id = readToken(keyring, workspaceId, token);
  if (!id) throw invalidField('token', 'the link is not valid');
  const found = await findMailed(store, { workspaceId, id });
  if (!found) return undefined;
  const { createdAt, ...message } = found;
  return { ...message, isExpired: now().getTime() - createdAt.getTime() > confirmableMs };
}

/** Finds a message by its id; undefined if the contact or the message is gone. */
export async function findMailed(
  store: Store,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<(Omit<LinkedMessage, 'isExpired'> & { createdAt: Date }) | undefined> {
  const [row] = await query<{
    contact_email: string;
    list_id: string | null;
    broadcast_id: string | null;
    notification_id: string | null;
    created_at: string;
  }>(
    store.fork(),
    `select contact_email, list_id, broadcast_id, notification_id, created_at from messages
     where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  );
  if (!row || row.contact_email === '') return undefined;
  const listId = row.list_id ?? '';
  const isTransactional = row.notification_id !== null;
  const leavesAll = row.list_id === null && row.broadcast_id !== null;
  if (listId === '' && !isTransactional && !leavesAll) return undefined;
  return {
    id,
    email: row.contact_email,
    listId,
    leavesAll,
    isConfirmation: row.broadcast_id === null && !isTransactional,
    createdAt: new Date(row.created_at),
  };
}

export function linkExpired(): ConnectError {
  return refusal('LINK_EXPIRED', 'the link has expired');
}

/**
 * Records that the recipient unsubscribed through a message, and writes an event the first time.
 */
export async function markUnsubscribed(
  { store, outbox, now }: { store: Store; outbox: Outbox; now: () => Date },
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<void> {
  await writeWithEvents(
    { em: store.fork(), outbox, workspaceId },
    {
      steps: `
        left_through as (
          update messages set unsubscribed_at = $3, updated_at = $3
          where workspace_id = $1 and id = $2 and unsubscribed_at is null
          returning *
        ), ${countStep('left_through', { unsubscribed: '1' })}`,
      events: [
        eventsOf(EmailUnsubscribedSchema, { from: 'left_through', time: 'unsubscribed_at' }),
      ],
      answer: 'true as written',
    },
    [workspaceId, id, now()],
  );
}

/**
 * Runs a call about a contact or a workspace; undefined if it is gone, so that links don't reveal
 * a deletion.
 */
export async function unlessGone<Value>(change: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await change();
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
    throw error;
  }
}
