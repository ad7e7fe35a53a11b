import type { Store } from '#lib/postgres/store.ts';
import type { Hold } from '../hold/hold.ts';
import type { Fate } from '../message.ts';
import type { CompiledPlan } from '../plans/plans.ts';
import type { Pacing, Permitted, Turn } from '../receivers/pacing.ts';
import type { ClaimGroup } from '../record/claims.ts';
import { deferAgain, deferNew } from '../record/defer.ts';
import {
  type AddressedId,
  type ResolveContext,
  type ResolveGiven,
  resolve,
} from './ask-consent.ts';

export type PaceContext = ResolveContext & {
  store: Store;
  owner: string;
  now: () => Date;
  pacing: Pacing;
  hold: Pick<Hold, 'reason'>;
};

/** The part that messages have in common which are paced together. */
export type PaceInput = ResolveGiven & {
  group: ClaimGroup;
  plan: Pick<CompiledPlan, 'transport' | 'warmUp'>;
  /** None of them had a row a moment ago. */
  areNew: boolean;
  /** Set where they are in a queue, so that each has a row. */
  claim?: unknown;
  isUrgent: boolean;
};

/** Messages that may go on, with permits of their receivers where those are paced. */
export type Paced = {
  open: readonly AddressedId[];
  permitted: Permitted | undefined;
};

/**
 * Splits off the messages that wait for their receivers, and records their turns: they take no
 * room, permit or claim meanwhile. Only mail of integrations that deliver directly is paced.
 */
export async function pace(
  context: PaceContext,
  batch: PaceInput,
  { open, fates }: { open: readonly AddressedId[]; fates: Map<string, Fate> },
): Promise<Paced> {
  const { group, plan, isUrgent } = batch;
  const { pacing, owner, now, hold } = context;
  // With a hold nothing is sent or put off, and admission says why.
  if (!plan.transport.isDirect || hold.reason !== '') return { open, permitted: undefined };
  const { workspaceId, integrationId } = group;
  const { warmUp } = plan;
  const key = { workspaceId, integrationId };
  const split = await pacing.split({ key, owner, open, isUrgent, warmUp, now: now() });
  const { free, waiting, permitted } = split;
  if (waiting.length === 0) return { open: free, permitted };
  try {
    const notMailed = await putOff(context, batch, { waiting, fates });
    return { open: [...free, ...notMailed], permitted };
  } catch (error) {
    pacing.giveBack(permitted, permitted.receivers.keys());
    throw error;
  }
}

/**
 * Records turns. Gives the recipients that may not be mailed: they need no permit to be recorded
 * as skipped. A message without a fate is in other hands, or on hold.
 */
async function putOff(
  context: PaceContext,
  batch: PaceInput,
  { waiting, fates }: { waiting: readonly Turn[]; fates: Map<string, Fate> },
): Promise<AddressedId[]> {
  const { store } = context;
  const { workspaceId } = batch.group;
  const known = batch.areNew ? new Map() : await deferAgain(store, workspaceId, waiting);
  const left = waiting.filter(({ id }) => !known.has(id));
  const notMailed: AddressedId[] = [];
  const deferred = new Map<string, number>(known);
  // Messages of the queue, and those that some hold, have a row.
  if (left.length > 0 && !batch.claim) {
    const asked = left.map(({ id, email }): AddressedId => [id, email]);
    const { claimants, atMs: askedMs } = await resolve(context, batch, asked);
    const skipped = new Set(claimants.flatMap(({ id, skipReason }) => (skipReason ? [id] : [])));
    notMailed.push(...asked.filter(([id]) => skipped.has(id)));
    const deferrals = left.filter(({ id }) => !skipped.has(id));
    const isNew = await deferNew(store, batch.group, { deferrals, askedMs });
    for (const id of isNew) deferred.set(id, 0);
  }
  for (const { id, dueAt, info } of waiting) {
    const unknown = deferred.get(id);
    if (unknown !== undefined) fates.set(id, { status: 'deferred', unknown, info, dueAt });
  }
  return notMailed;
}

/** Permits of messages that were not begun go back. */
export function endPace(pacing: Pacing, permitted: Permitted, begun: ReadonlySet<string>): void {
  const ids = [...permitted.receivers.keys()].filter((id) => !begun.has(id));
  pacing.giveBack(permitted, ids);
}
