import { invalidField } from '#lib/errors/errors.ts';
import { setRateLimitHeaders } from '#lib/postgres/attempts.ts';
import { clientAddressOf } from '#lib/rpc/server/access.ts';
import { groupedCalls } from '../changes/grouped-calls.ts';
import { joinLists } from '../consent/membership-queries.ts';
import { contactFields } from '../contact/fields.ts';
import { type ContactRow, requireContact } from '../contact/input.ts';
import { upsertContacts } from '../contact/queries.ts';
import { withinQuota } from '../contact/room.ts';
import type { Context, Methods } from '../context.ts';
import { type LockedList, lockListsForShare } from '../list-queries.ts';
import { isDisposable } from '../subscription/disposable.ts';
import { limitSubscriptions } from '../subscription/limits.ts';

const unprovenJsonMaxBytes = 4 * 1024;

type Subscription = {
  workspaceId: string;
  row: ContactRow;
  listIds: readonly string[];
  isProven: boolean;
};

export function subscribe(context: Context): Methods['subscribe'] {
  const join = groupedCalls<Subscription, true>({
    kindOf: ({ listIds, isProven }) => [listIds, isProven],
    rowOf: ({ row }) => row.email,
    write: (workspaceId, subscriptions) => joinAll(context, workspaceId, subscriptions),
  });
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
    await join({ workspaceId, row, listIds, isProven }, call);
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

async function joinAll(
  { store, outbox, quotas, now }: Context,
  workspaceId: string,
  subscriptions: readonly Subscription[],
): Promise<(true | Error)[]> {
  const at = now();
  const { listIds = [], isProven = false } = subscriptions[0] ?? {};
  return store.fork().transactional(async (em) => {
    const scope = { em, outbox, quotas, workspaceId };
    const lists = await lockListsForShare(em, workspaceId, listIds);
    // The answer must not reveal which lists exist.
    if (lists.length < listIds.length || !lists.every((list) => list.is_public || isProven)) {
      throw invalidField('list_ids', 'list is not public');
    }
    return withinQuota(scope, subscriptions, {
      emailOf: ({ row }) => row.email,
      write: async (within) => {
        const rows = within.map(({ row }) => row);
        await upsertContacts(scope, { rows, skipExisting: !isProven, at });
        const emails = rows.map(({ email }) => email);
        for (const each of joinsOf(lists, isProven))
          await joinLists(scope, { ...each, emails, at });
        return within.map(() => true);
      },
    });
  });
}

function joinsOf(lists: readonly LockedList[], isProven: boolean) {
  const [withOptIn = [], without = []] = [true, false].map((optIn) => idsOf(lists, optIn));
  return [
    { join: isProven ? 'askWithProofAndOptIn' : 'askWithOptIn', listIds: withOptIn },
    { join: isProven ? 'askWithProof' : 'ask', listIds: without },
  ] as const;
}

function idsOf(lists: readonly LockedList[], optIn: boolean): string[] {
  return lists.filter(({ is_double_optin }) => is_double_optin === optIn).map(({ id }) => id);
}
