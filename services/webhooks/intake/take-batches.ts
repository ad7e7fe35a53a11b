/*
 * Intake: batches of events become deliveries.
 *
 * Order: erasures of deleted contacts; one read of the subscriptions of all workspaces; each
 * workspace by itself is matched and admitted; one statement inserts the deliveries of all that are
 * ready within 20 ms, and others follow as they get ready; the dispatcher begins those that it had
 * places for, and is poked for the rest. Deliveries of listeners wait to be taken.
 *
 * Invariants: a batch that comes twice counts once. One that fails has no deliveries, and no other
 * fails with it: a statement whose values are refused is repeated for each batch. A workspace that
 * asks contacts, waits for its backlog or has many deliveries reports the time that it took.
 *
 * Limits: batches with more than 500 deliveries have a statement each, and the others one for about
 * 2,000. Of those with more than 5,000, four are inserted at a time in a process. A call of several
 * workspaces has 5,000 deliveries of large batches; the next, and those of its workspace behind it,
 * have to come alone.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Event } from '#gen/postrider/events/v1/events_pb.ts';
import type { ConsumedResult } from '#lib/events/consume.ts';
import { ConcurrencyLimiter } from '#lib/limits/concurrency-limiter.ts';
import type { Store } from '#lib/postgres/store.ts';
import { isAboutValues } from '#lib/postgres/until-stored.ts';
import type { Backlog } from '../backlog/backlog.ts';
import {
  insertDeliveries,
  type MatchedBatch,
  rowsAtOnce as rowsOfStatement,
} from '../matching/deliveries.ts';
import { match, readTargets, type WantedTarget } from '../matching/match.ts';
import type { AudienceReader } from '../matching/members.ts';
import type { Dispatcher, NewDeliveries } from '../sending/dispatcher.ts';
import { nameOf } from '../subscription.ts';
import { eraseDeleted } from './erase-deleted.ts';

const sharedRowsMax = 500;
const rowsAtOnce = 2_000;
const largeRowsOfSharedCall = 5_000;
/** Half of the connections that calls of workspaces may have are left to all other work. */
const longInserts = new ConcurrencyLimiter({
  ...{ places: 4, tenantWaitingMax: 16, waitMaxMs: 20_000 },
});
/** Workspaces that are matched and admitted within this time share a statement. */
const togetherMs = 20;

export type IntakeContext = {
  store: Store;
  now: () => Date;
  databaseTime: () => Date | undefined;
  audience: AudienceReader;
  dispatcher: Pick<Dispatcher, 'beginNew'>;
  backlog: Pick<Backlog, 'admit' | 'added'>;
};

type Batch = MatchedBatch['batch'];

/** A batch with matches, and where it stands among all. */
type Matched = MatchedBatch & { place: number };

/** The batches of a workspace that are taken together. */
type Share = { workspaceId: string; places: number[]; targets: WantedTarget[] };

/** Makes a delivery for each event and each target that wants it, once for each batch id. */
export async function takeBatches(
  context: IntakeContext,
  batches: readonly Batch[],
): Promise<ConsumedResult[]> {
  await eraseDeleted(context, batches);
  const results: ConsumedResult[] = batches.map(() => ({ tookMs: 0 }));
  const note = (places: readonly number[], result: ConsumedResult) => {
    for (const place of places) {
      const tookMs = (results[place]?.tookMs ?? 0) + result.tookMs;
      results[place] = { ...results[place], ...result, tookMs };
    }
  };
  const readAtMs = performance.now();
  const shares = await sharesOf(context, batches);
  const insert = async (some: readonly Matched[]) => {
    const targets = shares.flatMap((share) => share.targets);
    await insertAndBegin(context, some, { targets, readAtMs });
  };
  const insertAlone = async (each: Matched) => {
    note([each.place], await timed(() => inPlace(each, () => insert([each]))));
  };
  const insertTogether = async (some: readonly Matched[]) => {
    const { error } = await timed(() => insert(some));
    if (error && some.length > 1 && isAboutValues(error)) {
      for (const each of some) await insertAlone(each);
    } else if (error) {
      note(
        some.map(({ place }) => place),
        { error, tookMs: 0 },
      );
    }
  };
  const isShared = new Set(batches.map(({ workspaceId }) => workspaceId)).size > 1;
  let largeRowsLeft = isShared ? largeRowsOfSharedCall : Number.POSITIVE_INFINITY;
  const fits = (each: Matched) => {
    const rows = isLarge(each) ? each.matches.length : 0;
    if (rows > largeRowsLeft) return false;
    largeRowsLeft -= rows;
    return true;
  };
  const small = inGroups<Matched>((some) => inTurn(portionsOf(some), insertTogether));
  const large = inGroups<Matched>((some) => inTurn(some, insertAlone));
  const insertReady = () => Promise.all([small.work(), large.work()]);
  let isTogether = true;
  const taken = Promise.all(
    shares.map(async (share) => {
      const result = await timed(async () => {
        const own = await matchShare(context, batches, share);
        if (own.length > 0) await context.backlog.admit(share.workspaceId);
        // The batches of a workspace stay in their order.
        const tooMany = own.findIndex((each) => !fits(each));
        const fitting = tooMany < 0 ? own : own.slice(0, tooMany);
        for (const each of fitting) (isLarge(each) ? large : small).add(each);
        const rest = own.slice(fitting.length).map(({ place }) => place);
        if (rest.length > 0) note(rest, { error: notShared(), tookMs: 0, isAlone: true });
      });
      note(share.places, result);
      if (!isTogether) await insertReady();
    }),
  );
  await Promise.race([taken, sleep(togetherMs, undefined, { ref: false })]);
  isTogether = false;
  await Promise.all([insertReady(), taken]);
  return results;
}

const isLarge = ({ matches }: Matched) => matches.length > sharedRowsMax;

/** The jobs of a call end together: nobody's next events wait for large batches of another. */
function notShared(): ConnectError {
  return new ConnectError('too many deliveries for a call with other workspaces', Code.Aborted);
}

async function inPlace({ batch, matches }: Matched, work: () => Promise<void>): Promise<void> {
  if (matches.length <= rowsOfStatement) return work();
  const leave = await longInserts.enter(batch.workspaceId, new AbortController().signal);
  try {
    await work();
  } finally {
    leave();
  }
}

async function timed(work: () => Promise<void>): Promise<ConsumedResult> {
  const startedAtMs = performance.now();
  const error: unknown = await work().then(
    () => undefined,
    (reason) => reason ?? new Error('unknown'),
  );
  return { ...(error ? { error } : {}), tookMs: performance.now() - startedAtMs };
}

async function inTurn<Item>(items: readonly Item[], work: (item: Item) => Promise<void>) {
  for (const item of items) await work(item);
}

/** Works on what is ready, by places; what is added meanwhile goes together after it. */
function inGroups<Item extends { place: number }>(apply: (items: Item[]) => Promise<void>) {
  const ready: Item[] = [];
  let working: Promise<void> | undefined;
  return {
    add: (item: Item) => void ready.push(item),
    /** Settles when all that was added before it is worked on. */
    async work(): Promise<void> {
      while (ready.length > 0) {
        working ??= apply(ready.splice(0).toSorted((a, b) => a.place - b.place)).finally(() => {
          working = undefined;
        });
        await working;
      }
      await working;
    },
  };
}

/** By workspace; those of which nobody wants anything are left out. */
async function sharesOf({ store }: IntakeContext, batches: readonly Batch[]): Promise<Share[]> {
  const types = new Set(batches.flatMap(({ events }) => events.map(({ type }) => type)));
  const byWorkspace = Map.groupBy(batches.keys(), (place) => batches[place]?.workspaceId ?? '');
  const targets = await readTargets(store, [...byWorkspace.keys()], [...types]);
  const byOwner = Map.groupBy(targets, ({ workspace_id }) => workspace_id);
  return [...byOwner].map(([workspaceId, own]) => ({
    workspaceId,
    places: byWorkspace.get(workspaceId) ?? [],
    targets: own,
  }));
}

/** Contacts are asked once for all events of a workspace. */
async function matchShare(
  { audience }: IntakeContext,
  batches: readonly Batch[],
  { workspaceId, places, targets }: Share,
): Promise<Matched[]> {
  const events: Event[] = [];
  const origins: { batch: number; place: number }[] = [];
  for (const batch of places) {
    for (const [place, event] of (batches[batch]?.events ?? []).entries()) {
      events.push(event);
      origins.push({ batch, place });
    }
  }
  const matches = await match(audience, { workspaceId, events, targets });
  const byBatch = Map.groupBy(matches, ({ place }) => origins[place]?.batch ?? 0);
  return [...byBatch].flatMap(([place, own]) => {
    const batch = batches[place];
    const inBatch = own.map((each) => ({ ...each, place: origins[each.place]?.place ?? 0 }));
    return batch ? [{ batch, place, matches: inBatch }] : [];
  });
}

function portionsOf(matched: readonly Matched[]): Matched[][] {
  const portions: Matched[][] = [];
  let rows = rowsAtOnce;
  for (const each of matched) {
    if (rows + each.matches.length > rowsAtOnce) {
      portions.push([]);
      rows = 0;
    }
    rows += each.matches.length;
    portions.at(-1)?.push(each);
  }
  return portions;
}

async function insertAndBegin(
  { store, databaseTime, dispatcher, backlog }: IntakeContext,
  matched: readonly Matched[],
  { targets, readAtMs }: { targets: readonly WantedTarget[]; readAtMs: number },
): Promise<void> {
  const wanted = new Map<string, NewDeliveries>();
  const endpoints = new Map(
    targets.map((each) => [nameOf({ workspaceId: each.workspace_id, id: each.id }), each]),
  );
  for (const { batch, matches } of matched) {
    for (const { subscriptionId: id } of matches) {
      const key = { workspaceId: batch.workspaceId, id };
      const name = nameOf(key);
      const endpoint = endpoints.get(name);
      if (!endpoint || endpoint.url === null) continue;
      const known = wanted.get(name);
      if (known) known.count += 1;
      else {
        const { url, sealed_secret: sealedSecret, is_gated: isGated } = endpoint;
        wanted.set(name, { key, count: 1, url, sealedSecret, isGated });
      }
    }
  }
  const now = databaseTime();
  await dispatcher.beginNew([...wanted.values()], readAtMs, (claims) =>
    insertDeliveries(store, matched, { now, claims }),
  );
  const byWorkspace = Map.groupBy(matched, ({ batch }) => batch.workspaceId);
  for (const [workspaceId, own] of byWorkspace) {
    const counts = new Map<string, number>();
    let bytes = 0;
    for (const { batch, matches } of own) {
      for (const { subscriptionId: id } of matches) counts.set(id, (counts.get(id) ?? 0) + 1);
      for (const { dataJson } of batch.events) bytes += dataJson.length;
    }
    backlog.added(workspaceId, counts, bytes);
  }
}
