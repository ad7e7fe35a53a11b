import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Store } from '#lib/postgres/store.ts';
import { type BatchFeeds, type Fed, type Feeds, feedValues } from '../content/feeds.ts';
import type { CompiledPlan } from '../content/plans.ts';
import type { Fate } from '../message.ts';
import type { Contacts } from '../peers.ts';
import { type Claimant, type Claimed, type ClaimGroup, claim } from '../record/claims.ts';
import { giveBackUntilDone } from '../record/give-back.ts';
import { type DeliveryContext, DeliveryRun } from './delivery.ts';
import { returnPermits, takePermits } from './rate.ts';
import type { Underway } from './underway.ts';
import { type Today, todayOf } from './warm-up.ts';

export type SendContext = DeliveryContext & {
  store: Store;
  contacts: Pick<Contacts, 'resolveRecipients'>;
  feeds: Feeds;
  underway: Underway;
};

/** Messages to send, and what they have in common. */
export type Given = {
  group: ClaimGroup;
  plan: CompiledPlan;
  /** Messages that may be claimed: id and address. */
  open: readonly (readonly [id: string, email: string])[];
  /** Who may be sent to beside the active members. */
  who: { includeUnsubscribed?: boolean; forConfirmation?: boolean; byHand?: boolean };
  /** The contact fields that Liquid gets. */
  fields: readonly string[];
  feeds: BatchFeeds;
  stop: AbortSignal;
};

type Batch = Given & {
  claimants: Claimant[];
  contacts: Map<string, JsonObject>;
  fates: Map<string, Fate>;
  fed: Fed;
};

/** Why nothing can be sent now, and until when if anybody knows. */
export type Outage = { reason: string; endsAt?: Date };

export type Sent = { fates: Map<string, Fate>; outage: Outage | undefined };

/** What is settled when a call must stop is in the record by then. */
const answerGraceMs = 300;

const nothingFed: Fed = { answers: new Map(), outage: '' };

/**
 * Resolves, claims and sends messages, and records what became of each. What has no fate in the answer was
 * not started. The outage says why the provider takes no mail at all, what a feed did wrong, or that the day has had its share.
 */
export async function sendAll(context: SendContext, given: Given): Promise<Sent> {
  const fates = new Map<string, Fate>();
  const resolved = await resolve(context, given);
  const outage = await sendOpen(context, { ...given, ...resolved, fates, fed: nothingFed });
  return { fates, outage };
}

/** Asks right before sending, so that who has left meanwhile gets nothing. */
async function resolve(
  { contacts }: SendContext,
  given: Given,
): Promise<Pick<Batch, 'claimants' | 'contacts'>> {
  if (given.open.length === 0) return { claimants: [], contacts: new Map() };
  const fields = [...given.fields];
  const { recipients } = await contacts.resolveRecipients({
    workspaceId: given.group.workspaceId,
    listId: given.group.listId,
    ...given.who,
    emails: given.open.map(([, email]) => email),
    fields,
  });
  const values = new Map<string, JsonObject>();
  const claimants = given.open.map(([id, email], index) => {
    const recipient = recipients[index];
    if (!recipient) throw new ConnectError('a recipient was not resolved', Code.Unavailable);
    const { skipReason, valuesJson } = recipient;
    if (skipReason === '') {
      values.set(email, valuesJson === '' ? { email } : contactOf(fields, valuesJson));
    }
    return { id, email, skipReason };
  });
  return { claimants, contacts: values };
}

function contactOf(fields: readonly string[], valuesJson: string): JsonObject {
  const values: JsonValue = JSON.parse(valuesJson);
  return Object.fromEntries(
    fields.map((name, index) => [name, Array.isArray(values) ? (values[index] ?? null) : null]),
  );
}

/** Asks the recipient feed about some, sends to them, and so on. Nobody is sent to without what the feed says. */
async function sendOpen(context: SendContext, batch: Batch): Promise<Outage | undefined> {
  const { stop, contacts } = batch;
  const { recipient } = batch.feeds;
  const skipped = batch.claimants.filter(({ skipReason }) => skipReason !== '');
  if (skipped.length > 0 && !stop.aborted) await sendClaimed(context, batch, skipped);
  let rest = batch.claimants.filter(({ skipReason }) => skipReason === '');
  if (!recipient) return sendPermitted(context, batch, rest);
  while (rest.length > 0 && !stop.aborted) {
    const fed = await context.feeds.askSome({ recipient, claimants: rest, contacts, stop });
    const ready = rest.filter(({ email }) => fed.answers.has(email));
    const outage = (await sendPermitted(context, { ...batch, fed }, ready)) ?? outageOf(fed);
    if (outage) return outage;
    rest = rest.filter(({ email }) => !fed.answers.has(email));
  }
  return undefined;
}

function outageOf({ outage: reason }: { outage: string }): Outage | undefined {
  return reason === '' ? undefined : { reason };
}

/** Claims and sends as many at a time as the rate allows, so that nothing waits under its lease for permits. */
async function sendPermitted(
  context: SendContext,
  batch: Batch,
  claimants: Claimant[],
): Promise<Outage | undefined> {
  const { store, now } = context;
  const { workspaceId, integrationId } = batch.group;
  const { perMinute, warmUp } = batch.plan;
  const rate = { workspaceId, integrationId, perMinute };
  const today = () => todayOf(warmUp, now());
  let rest = claimants;
  while (rest.length > 0) {
    const wish = { wanted: rest.length, today, signal: batch.stop };
    const { count, isDaySpent } = await takePermits(store, rate, wish);
    if (isDaySpent) return spent(today());
    if (count === 0) return undefined;
    const { outage, used } = await sendClaimed(context, batch, rest.slice(0, count));
    await returnPermits(store, rate, count - used);
    if (outage) return outage;
    rest = rest.slice(count);
  }
  return undefined;
}

function spent({ limit, endsAt }: Today): Outage {
  return { reason: `warm-up limit of ${limit} messages a day reached`, endsAt };
}

async function sendClaimed(
  context: SendContext,
  { group, plan, contacts, feeds, fed, stop, fates }: Batch,
  claimants: Claimant[],
): Promise<{ outage: Outage | undefined; used: number }> {
  const claimedAtMs = Date.now();
  const rows = await claimFree(context, group, claimants);
  const claimed = rows.filter(({ status }) => status === 'sending');
  for (const row of rows) if (row.status !== 'sending') fates.set(row.id, row);
  if (claimed.length === 0) return { outage: undefined, used: 0 };
  const feedsOf = (email: string) => feedValues(feeds, fed, email);
  const given = { group, plan, claimed, contacts, feedsOf, claimedAtMs, stop };
  const run = new DeliveryRun(context, given);
  await Promise.race([run.done, over(stop)]);
  for (const [id, fate] of run.fates) fates.set(id, fate);
  return { outage: outageOf(run), used: claimed.length - run.unsent.length };
}

/** Claims what nothing in this process holds, and holds what is ours from then on. */
async function claimFree(
  context: SendContext,
  group: ClaimGroup,
  claimants: Claimant[],
): Promise<Claimed[]> {
  const { store, owner, underway, log } = context;
  const free = underway.hold(claimants);
  const ids = new Set(free.map(({ id }) => id));
  try {
    const rows = await claim(store, owner, group, free);
    for (const { id, status } of rows) if (status === 'sending') ids.delete(id);
    underway.release(ids);
    return rows;
  } catch (error) {
    // The claim may have been committed before its answer was lost.
    giveBackUntilDone(context, group, [...ids]).catch((cause: unknown) =>
      log.error({ err: cause }, 'claimed messages could not be given back'),
    );
    throw error;
  }
}

/** Resolves when a call must answer: what a server has not answered by then goes on without it. */
async function over(stop: AbortSignal): Promise<void> {
  if (!stop.aborted) await once(stop, 'abort');
  await sleep(answerGraceMs);
}
