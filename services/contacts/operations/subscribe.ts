import { invalidField } from '#lib/errors/errors.ts';
import { setRateLimitHeaders } from '#lib/postgres/attempts.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
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
import {
  type FormSolution,
  readSolution,
  type SolutionState,
  type Taken,
  takeSolutions,
  usedBefore,
} from '../subscription/solutions.ts';

const unprovenJsonMaxBytes = 4 * 1024;

type Subscription = {
  workspaceId: string;
  row: ContactRow;
  listIds: readonly string[];
  isProven: boolean;
  /** Used up by the subscription; undefined where none is asked for. */
  solution: FormSolution | undefined;
};

export function subscribe(context: Context): Methods['subscribe'] {
  const { store, now, challenges } = context;
  const takenNow = (workspaceId: string) => ({ workspaceId, at: now() });
  const join = groupedCalls<Subscription, true>({
    kindOf: ({ listIds, isProven }) => [listIds, isProven],
    rowOf: ({ row }) => row.email,
    write: (workspaceId, subscriptions) => joinAll(context, workspaceId, subscriptions),
  });
  return async ({ workspaceId, contact, listIds: given, altcha }, call) => {
    const { row, input } = requireContact(contact);
    const listIds = [...new Set(given)];
    const email = row.email;
    const form = { workspaceId, email, listIds };
    const proven = () => context.isProven(workspaceId, { email, hmac: input.emailHmac });
    const solution = await solutionOf(context, { ...form, altcha, proven });
    const state = solution && (await readSolution(store.fork(), takenNow(workspaceId), solution));
    if (state === 'used') throw usedBefore();
    if (state === 'repeated') return { success: true };
    const asked = { ...form, client: clientAddressOf(call), nonce: solution?.nonce };
    setRateLimitHeaders(call.responseHeader, await limitSubscriptions(context, asked));
    // The answer must not reveal which addresses count as disposable.
    if (isDisposable(email)) {
      if (solution) await useUp(store, takenNow(workspaceId), solution);
    } else {
      const isProven = await proven();
      if (!isProven) requireLittleJson(row);
      await join({ workspaceId, row, listIds, isProven, solution }, call);
    }
    if (solution) challenges.countForm(workspaceId);
    return { success: true };
  };
}

type Form = {
  workspaceId: string;
  email: string;
  listIds: readonly string[];
  altcha: string;
  proven: () => Promise<boolean>;
};

/** The proof of work of a form; undefined if none is asked for. */
async function solutionOf(
  { wantsProof, challenges }: Context,
  { workspaceId, email, listIds, altcha, proven }: Form,
): Promise<FormSolution | undefined> {
  if (!(await wantsProof(workspaceId)) || (await proven())) return undefined;
  const { nonce, expiresAt, markOf } = await challenges.verify(workspaceId, altcha);
  return { nonce, expiresAt, form: markOf({ email, listIds }) };
}

async function useUp(store: Store, taken: Taken, solution: FormSolution): Promise<void> {
  const [state] = await store.fork().transactional((em) => takeSolutions(em, taken, [solution]));
  if (state === 'used') throw usedBefore();
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
        const states = await takeAll(em, { workspaceId, at }, within);
        const rows = within.filter((_, at) => states[at] === 'free').map(({ row }) => row);
        await upsertContacts(scope, { rows, skipExisting: !isProven, at });
        const emails = rows.map(({ email }) => email);
        for (const each of joinsOf(lists, isProven))
          await joinLists(scope, { ...each, emails, at });
        return states.map((state) => (state === 'used' ? usedBefore() : true));
      },
    });
  });
}

/** Uses up the solutions of those that have one. */
async function takeAll(
  em: EntityManager,
  taken: Taken,
  subscriptions: readonly Subscription[],
): Promise<SolutionState[]> {
  const solved = subscriptions.filter(({ solution }) => solution);
  const solutions = solved.flatMap(({ solution }) => solution ?? []);
  const states = solutions.length > 0 ? await takeSolutions(em, taken, solutions) : [];
  const byForm = new Map(solved.map((subscription, at) => [subscription, states[at]]));
  return subscriptions.map((subscription) => byForm.get(subscription) ?? 'free');
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
