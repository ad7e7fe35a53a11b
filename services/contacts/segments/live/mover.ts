import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Log } from '#lib/log.ts';
import type { Store } from '#lib/postgres/store.ts';
import { failSegment } from '../build/begin.ts';
import { isTooSlow, SegmentFault } from '../segment-fault.ts';
import { type MoveContext, moveContacts } from './move.ts';

const idleMs = 300;
const busyMs = 50;
const backOffMs = 1_000;
const changesMax = 1_000;
/** A segment that fails even with so few contacts is at fault. */
const changesMin = 10;
const workspacesMax = 200;
/** A workspace whose segments are slow leaves a place to the others. */
const workspacesAtOnce = 3;

type Pace = { changesMax: number; notBeforeMs: number };

/** Moves contacts in and out of segments as they change, in every process of the service; workspaces take turns. */
export class Mover {
  readonly #context: MoveContext & { log: Pick<Log, 'warn'> };
  readonly #paces = new LRUCache<string, Pace>({ max: 10_000 });
  readonly #stopping = new AbortController();
  #ended: Promise<void> | undefined;

  constructor(context: MoveContext & { log: Pick<Log, 'warn'> }) {
    this.#context = context;
  }

  start(): void {
    this.#ended ??= this.#run();
  }

  /** Settles when what was begun is committed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let after = '';
    while (!signal.aborted) {
      const waiting = await waitingWorkspaces(this.#context.store, after).catch((err) => {
        this.#context.log.warn({ err }, 'changes for segments could not be read; trying again');
        return [];
      });
      const taken = await this.#moveAll(waiting);
      const isFull = waiting.length === workspacesMax;
      after = isFull ? (waiting.at(-1) ?? '') : '';
      if (taken > 0 || isFull) continue;
      const waitMs = waiting.length > 0 ? busyMs : idleMs;
      await sleep(waitMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Answers how many changes were taken. */
  async #moveAll(workspaces: readonly string[]): Promise<number> {
    const queue = [...workspaces];
    let taken = 0;
    const turn = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        if (!this.#stopping.signal.aborted) taken += await this.#move(next);
      }
    };
    await Promise.all(Array.from({ length: workspacesAtOnce }, turn));
    return taken;
  }

  async #move(workspaceId: string): Promise<number> {
    const pace = this.#paces.get(workspaceId) ?? { changesMax, notBeforeMs: 0 };
    if (pace.notBeforeMs > Date.now()) return 0;
    try {
      const taken = await moveContacts(this.#context, { workspaceId, ...pace });
      if (taken !== undefined) this.#paces.delete(workspaceId);
      return taken ?? 0;
    } catch (error) {
      this.#context.log.warn(
        { err: error, workspaceId },
        'contacts could not be moved; trying again',
      );
      await this.#slowDown(workspaceId, pace, error).catch(() => {});
      return 0;
    }
  }

  /** Tries with fewer contacts, and gives up a segment that fails with few. */
  async #slowDown(workspaceId: string, pace: Pace, error: unknown): Promise<void> {
    const notBeforeMs = Date.now() + backOffMs;
    const isFault = error instanceof SegmentFault;
    const fewer = Math.max(changesMin, pace.changesMax / 10);
    const isLarge = isFault || isTooSlow(error);
    this.#paces.set(workspaceId, { changesMax: isLarge ? fewer : pace.changesMax, notBeforeMs });
    if (!isFault || pace.changesMax > changesMin) return;
    const { segmentId: id, reason } = error;
    await failSegment(this.#context.store.fork(), { workspaceId, id }, reason);
    this.#paces.delete(workspaceId);
  }
}

/** Jumps from workspace to workspace, so that it costs little, however many changes wait. */
async function waitingWorkspaces(store: Store, after: string): Promise<string[]> {
  const rows = await store.read<{ id: string }>(
    `with recursive waiting as (
       (select workspace_id from segment_changes where workspace_id > $1 order by workspace_id limit 1)
       union all
       (select next.workspace_id from waiting cross join lateral (
          select workspace_id from segment_changes where workspace_id > waiting.workspace_id
          order by workspace_id limit 1
        ) next)
     )
     select workspace_id as id from waiting limit ${workspacesMax}`,
    [after],
  );
  return rows.map(({ id }) => id);
}
