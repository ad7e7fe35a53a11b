import { invalidField } from '#lib/errors/errors.ts';
import { setRateLimitHeaders } from '#lib/postgres/attempts.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { clientAddressOf } from '#lib/rpc/server/access.ts';
import { joinLists } from '../consent/membership-queries.ts';
import { contactFields } from '../contact/fields.ts';
import { type ContactRow, requireContact } from '../contact/input.ts';
import { upsertContacts } from '../contact/queries.ts';
import { requireContactRoom } from '../contact/room.ts';
import type { Context, Methods } from '../context.ts';
import { type LockedList, lockListsForShare } from '../list-queries.ts';
import { isDisposable } from '../subscription/disposable.ts';
import { limitSubscriptions } from '../subscription/limits.ts';

const unprovenJsonMaxBytes = 4 * 1024;

export function subscribe(context: Context): Methods['subscribe'] {
  return async ({ workspaceId, contact, listIds: given }, call) => {
    const { row, input } = requireContact(contact);
    const listIds = [...new Set(given)];
    const email = row.email;
    const asked = { workspaceId, email, listIds, client: clientAddressOf(call) };
    setRateLimitHeaders(call.responseHeader, await limitSubscriptions(context, asked));
    // The answer must not reveal which addresses count as disposable.
    if (isDisposable(email)) return { success: true };
    const isProven = await context.isProven(workspaceId, { email, hmac: input.emailHmac });
    if (!isProven) requireLittleJson(row);
    await context.store
      .fork()
      .transactional((em) => join(context, em, { workspaceId, row, listIds, isProven }));
    return { success: true };
  };
}

/** An unauthenticated caller may invent addresses, and each contact keeps what it came with. */
function requireLittleJson({ values }: ContactRow): void {
  const texts = contactFields.map(({ kind }, at) => (kind === 'json' ? (values[at] ?? '') : ''));
  if (Buffer.byteLength(texts.join('')) > unprovenJsonMaxBytes) {
    const text = 'invalid contact: custom JSON without email_hmac must be at most 4 KiB in all';
    throw invalidField('contact', text);
  }
}

type Asking = { workspaceId: string; row: ContactRow; listIds: string[]; isProven: boolean };

async function join(
  { outbox, quotas, now }: Context,
  em: EntityManager,
  { workspaceId, row, listIds, isProven }: Asking,
): Promise<void> {
  const at = now();
  const scope = { em, outbox, quotas, workspaceId };
  const lists = await lockListsForShare(em, workspaceId, listIds);
  // The answer must not reveal which lists exist.
  if (lists.length < listIds.length || !lists.every((list) => list.is_public || isProven)) {
    throw invalidField('list_ids', 'list is not public');
  }
  await requireContactRoom(scope, row.email);
  await upsertContacts(scope, { rows: [row], skipExisting: !isProven, at });
  const [withOptIn, without] = [true, false].map((optIn) => idsOf(lists, optIn));
  const emails = [row.email];
  const all = [
    { join: isProven ? 'askWithProofAndOptIn' : 'askWithOptIn', listIds: withOptIn ?? [] },
    { join: isProven ? 'askWithProof' : 'ask', listIds: without ?? [] },
  ] as const;
  for (const each of all) await joinLists(scope, { ...each, emails, at });
}

function idsOf(lists: readonly LockedList[], optIn: boolean): string[] {
  return lists.filter(({ is_double_optin }) => is_double_optin === optIn).map(({ id }) => id);
}
