import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { MoveContext } from '../live/move.ts';
import type { SegmentKey } from '../segment.ts';
import { isFaultOfTree, isTooSlow, reasonOf } from '../segment-fault.ts';
import { failSegment } from './begin.ts';
import { buildPage } from './page.ts';

/**
 * Statements that began before the segment was known have ended or have an id of a transaction by
 * then.
 */
const unawareMs = 1_000;
const writersPollMs = 100;
/** Small enough that writers of contacts wait little for the processor. */
const pageMax = 5_000;
const pageMin = 100;
/** Between two pages other writers have the database for this part of a page's time. */
const pausePart = 0.7;
const pauseMinMs = 20;

/** A segment whose build is under way. */
export type Build = {
  name: string;
  version: number;
  buildId: string;
  /** How many contacts were looked at, of how many about. */
  count: number;
  contacts: number;
};

/** Null if the segment is gone, or is not being built. */
export async function readBuild(
  { store }: { store: Store },
  { workspaceId, id }: SegmentKey,
): Promise<Build | null> {
  const [row] = await query<Build>(
    store.fork(),
    `select name, version, build_id as "buildId", coalesce(build_count, 0) as count,
       (select count(*)::int from contacts where workspace_id = $1) as contacts
     from segments where workspace_id = $1 and id = $2 and build_id is not null`,
    [workspaceId, id],
  );
  return row ?? null;
}

export type BuildOptions = {
  until: Date;
  signal: AbortSignal;
  /** Called at least every ten seconds, with the number of contacts that were looked at. */
  heartbeat: (count: number) => void;
};

/** Builds page after page; answers whether there is more to do when its time is over. */
export async function buildSegment(
  context: MoveContext,
  key: SegmentKey,
  { until, signal, heartbeat }: BuildOptions,
): Promise<boolean> {
  let settled: string | undefined;
  let size = pageMax;
  while (!signal.aborted) {
    const build = await readProgress(context.store, key);
    if (!build) return false;
    heartbeat(build.count);
    if (new Date() >= until) return true;
    if (!build.isBegun && settled !== build.buildId) {
      if (!(await olderWritersEnded(context.store, { until, signal, heartbeat }))) return true;
      settled = build.buildId;
    }
    const startedAtMs = performance.now();
    try {
      await buildPage(context, key, { buildId: build.buildId, size });
    } catch (error) {
      if (!isFaultOfTree(error)) throw error;
      if (size === pageMin || !isTooSlow(error)) {
        await failSegment(context.store.fork(), key, reasonOf(error));
        return false;
      }
      size = Math.max(pageMin, Math.floor(size / 10));
    }
    const pauseMs = Math.max(pauseMinMs, (performance.now() - startedAtMs) * pausePart);
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
  return true;
}

type Progress = { buildId: string; count: number; isBegun: boolean };

async function readProgress(
  store: Store,
  { workspaceId, id }: SegmentKey,
): Promise<Progress | undefined> {
  const [row] = await query<Progress>(
    store.fork(),
    `select build_id as "buildId", coalesce(build_count, 0) as count, build_after is not null as "isBegun"
     from segments where workspace_id = $1 and id = $2 and build_id is not null`,
    [workspaceId, id],
  );
  return row;
}

/**
 * Waits until every writer that may not know the segment, or knows another tree, has committed:
 * what it changed is read by the pages, and everything later is in the queue of changes. A
 * statement that began before has taken an id within a second; then all ids up to now have to be
 * over. Answers false if that takes too long.
 */
async function olderWritersEnded(
  store: Store,
  { until, signal, heartbeat }: BuildOptions,
): Promise<boolean> {
  await sleep(unawareMs, undefined, { signal }).catch(() => {});
  const [first] = await query<{ next: string }>(
    store.fork(),
    'select pg_snapshot_xmax(pg_current_snapshot())::text as next',
    [],
  );
  while (!signal.aborted) {
    const [row] = await query<{ over: boolean }>(
      store.fork(),
      'select pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 as over',
      [first?.next],
    );
    if (row?.over) return true;
    if (new Date() >= until) return false;
    heartbeat(0);
    await sleep(writersPollMs, undefined, { signal }).catch(() => {});
  }
  return false;
}
