import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import type { Subscription } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { canonicalAddress } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { query } from '#lib/postgres/query.ts';
import { todayOf } from '../admission/warm-up.ts';
import type { Context, Methods } from '../context.ts';
import { broadcastMessageId } from '../message.ts';
import { type MessageRow, type MessageState, messageColumns } from '../message-queries.ts';
import { isWaitForRate } from '../receivers/words.ts';
import { findSuppression } from '../suppressions/store.ts';

type Reason = {
  code: string;
  text: string;
  at?: ReturnType<typeof timestampFromDate>;
  messageId?: string;
};

type ExplainRequest = {
  workspaceId: string;
  email: string;
  broadcastId: string;
  notificationId: string;
};

const messagesMax = 10;

export function explainMessages(context: Context): Methods['explainMessages'] {
  return async ({ workspaceId, email: given, broadcastId, notificationId }) => {
    const email = canonicalAddress(given);
    if (!email) throw invalidField('email', 'email must be one email address');
    if (broadcastId !== '' && notificationId !== '') {
      const text = 'broadcast_id and notification_id must not be given together';
      throw invalidField('notification_id', text);
    }
    const asked = { workspaceId, email, broadcastId, notificationId };
    const messages = await readMessages(context, asked);
    const [suppression, consent, warmUp] = await Promise.all([
      suppressionOf(context, asked),
      consentOf(context, asked, messages[0]?.list_id ?? ''),
      warmUpOf(context, asked, messages[0]),
    ]);
    const obstacles = [...holdOf(context), ...suppression, ...consent, ...warmUp];
    const none = { code: 'no_message', text: 'No such message to the address is on record.' };
    const record = messages.length > 0 ? messages.map(reasonOf) : [none];
    return { summary: summaryOf(record[0] ?? none, obstacles), reasons: [...record, ...obstacles] };
  };
}

/** The newest message's reason, and while it is open the first obstacle. */
function summaryOf(newest: Reason, obstacles: readonly Reason[]): string {
  const isOpen = ['no_message', 'queued', 'deferred'].includes(newest.code);
  const [first] = obstacles;
  return isOpen && first ? `${newest.text} ${first.text}` : newest.text;
}

/** A broadcast's message is found by its id even where its address was dropped. */
function readMessages(
  { store }: Context,
  { workspaceId, email, broadcastId, notificationId }: ExplainRequest,
): Promise<MessageRow[]> {
  return query<MessageRow>(
    store.fork(),
    `select ${messageColumns} from (
       (select * from messages
        where workspace_id = $1 and contact_email = $2
          and ($3 = '' or broadcast_id = $3) and ($4 = '' or notification_id = $4)
        order by created_at desc limit ${messagesMax})
       union
       select * from messages where workspace_id = $1 and id = $5::uuid and $3 <> ''
     ) found order by created_at desc limit ${messagesMax}`,
    [
      workspaceId,
      email,
      broadcastId,
      notificationId,
      broadcastMessageId(workspaceId, broadcastId, email),
    ],
  );
}

const words: Record<MessageState, string> = {
  queued: 'A message is accepted and not tried yet.',
  sending: 'A message is on its way.',
  sent: 'The mail server accepted the message.',
  delivered: 'The provider reported the message delivered.',
  deferred: 'The mail server put the message off; it is tried again.',
  failed: 'The message failed.',
  bounced: 'The mail server refused the address for good.',
  complained: 'The recipient complained about the message.',
  skipped: 'The message was not sent.',
  cancelled: 'The message was cancelled before it was sent.',
  expired: 'The message was not accepted in time, and is not sent any more.',
};

const skipWords: Record<string, string> = {
  unsubscribed: 'the person had unsubscribed',
  pending: 'the subscription was not confirmed',
  bounced: 'the address had bounced',
  complained: 'the person had complained',
  opted_out: 'the person wants no mail',
  removed: 'the person was no contact, or not on the list',
  active: 'the subscription was confirmed already',
};

function reasonOf(row: MessageRow): Reason {
  const { state, status_info: info } = row;
  const isPaced = state === 'deferred' && isWaitForRate(info);
  const at = timestampFromDate(new Date(row.sent_at ?? row.failed_at ?? row.updated_at ?? 0));
  const about = { at, messageId: row.id };
  if (state === 'bounced' || state === 'complained') {
    return { ...about, code: state, text: quoting(words[state], row.diagnostic ?? info) };
  }
  if (state === 'sent' && row.soft_bounced_at) return { ...about, ...returnedReason(row) };
  const said = isPaced ? 'A message is put off; it is tried again.' : words[state];
  if (state !== 'skipped') return { ...about, code: state, text: quoting(said, info) };
  const why = skipWords[info ?? ''] ?? info ?? 'it may not be sent to';
  const text = `The message was not sent: ${why}.`;
  return { ...about, code: `skipped_${info ?? 'unknown'}`, text };
}

const quoting = (text: string, said: string | null) => (said ? `${text} (${said})` : text);

const returnedWords: Record<string, string> = {
  soft: 'the mailbox may take others',
  expired: 'no server took it for days',
  message: 'for its content or size',
  sender: 'for the reputation of the sender or a policy of the receiver',
};

function returnedReason({ bounce_class: named, diagnostic }: MessageRow): Reason {
  const why = returnedWords[named ?? ''] ?? 'for a reason that its words do not say';
  const text = `The mail server took the message, and it was returned: ${why}.`;
  return { code: 'returned', text: quoting(text, diagnostic) };
}

function holdOf({ hold }: Context): Reason[] {
  if (hold.reason === '') return [];
  return [{ code: 'hold', text: `All mail of the installation is on hold: ${hold.reason}.` }];
}

async function suppressionOf(
  { store }: Context,
  { workspaceId, email }: ExplainRequest,
): Promise<Reason[]> {
  const row = await findSuppression(store.fork(), workspaceId, email);
  if (!row) return [];
  const rest = row.reason === 'bounced' ? '' : ' Transactional mail is sent all the same.';
  const until = row.expires_at === null ? '' : ` until ${new Date(row.expires_at).toISOString()}`;
  const why = skipWords[row.reason] ?? row.reason;
  const text = `The address is on the suppression list${until}: ${why}.${rest}`;
  return [{ code: 'suppressed', text, at: timestampFromDate(new Date(row.created_at)) }];
}

const listWords = new Map<MembershipStatus, readonly [code: string, how: string]>([
  [MembershipStatus.PENDING, ['list_pending', 'is not confirmed']],
  [MembershipStatus.UNSUBSCRIBED, ['list_unsubscribed', 'was ended by the person']],
  [MembershipStatus.BOUNCED, ['list_bounced', 'ended with a bounce']],
  [MembershipStatus.COMPLAINED, ['list_complained', 'ended with a complaint']],
]);

/** Of the list of the newest message, else of all lists. Transactional mail asks for no consent. */
async function consentOf(
  { contacts }: Context,
  { workspaceId, email, notificationId }: ExplainRequest,
  listId: string,
): Promise<Reason[]> {
  if (notificationId !== '') return [];
  let subscriptions: readonly Subscription[];
  try {
    ({ subscriptions } = await contacts.getSubscriber({ workspaceId, email }));
  } catch (error) {
    if (!(error instanceof ConnectError && error.code === Code.NotFound)) throw error;
    return [{ code: 'no_contact', text: 'The address is no contact of the workspace.' }];
  }
  return subscriptions.flatMap((subscription) => {
    const [code, how] = listWords.get(subscription.status) ?? [];
    if (!code || (listId !== '' && subscription.listId !== listId)) return [];
    return [{ code, text: `The subscription to the list ${subscription.listName} ${how}.` }];
  });
}

/** Whether the day's limit of the integration that sends is reached. */
async function warmUpOf(
  { store, plans, now }: Context,
  { workspaceId, notificationId }: ExplainRequest,
  newest: MessageRow | undefined,
): Promise<Reason[]> {
  const { settings } = await plans.settings(workspaceId);
  const isTransactional = notificationId !== '' || typeof newest?.notification_id === 'string';
  const ofSettings = isTransactional
    ? settings?.transactionalEmailProviderId
    : settings?.marketingEmailProviderId;
  const notificationOf = notificationId || newest?.notification_id;
  const [named] = await query<{ id: string | null }>(
    store.fork(),
    notificationOf
      ? 'select integration_id as id from notifications where workspace_id = $1 and id = $2'
      : 'select integration_id as id from messages where workspace_id = $1 and id = $2::uuid',
    [workspaceId, notificationOf || newest?.id],
  );
  const integrationId = named?.id || ofSettings;
  if (!integrationId) return [];
  const warmUp = await plans.warmUp(workspaceId, integrationId).catch((error: unknown) => {
    // An integration that is gone has no limit.
    if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
    throw error;
  });
  const { date, limit } = todayOf(warmUp, now());
  if (limit === undefined) return [];
  const [row] = await query<{ count: number }>(
    store.fork(),
    `select day_count as count from sending_rates
     where workspace_id = $1 and integration_id = $2 and day = $3::date`,
    [workspaceId, integrationId, date],
  );
  if ((row?.count ?? 0) < limit) return [];
  const text = `The warm-up limit of ${limit} messages a day is reached; mail goes on tomorrow (UTC).`;
  return [{ code: 'warm_up_limit', text }];
}
