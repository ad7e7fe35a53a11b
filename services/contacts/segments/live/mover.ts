import { setTimeout as sleep } from 'node:timers/promises';
import { LruMap } from '#lib/collections/lru-map.ts';
import type { Log } from '#lib/log.ts';
import type { Store } from '#lib/postgres/store.ts';
import { failSegment } from '../build/begin.ts';
import { isMessagesAway, isTooSlow, SegmentFault } from '../segment-fault.ts';
import { type MoveContext, moveContacts } from './move.ts';

const idleMs = 300;
const busyMs = 50;
const backOffMs = 1_000;
const changesMax = 1_000;
/** A segment that fails even with this few contacts is at fault. */
const changesMin = 10;
const workspacesMax = 200;
/** Time between calls while messages does not answer. */
const askAgainMs = 3_000;
/** A workspace whose segments are slow leaves a place to the others. */
const workspacesAtOnce = 3;

type Source = 'changes' | 'postponed';

type Pace = { changesMax: number; notBeforeMs: number };

/**
 * Moves contacts in and out of segments as they change, in every process of the service; workspaces
 * take turns.
 */
export class Mover {
  readonly #context: MoveContext & { log: Pick<Log, 'warn'> };
  readonly #paces = new LruMap<Pace>({ max: 10_000 });
  readonly #stopping = new AbortController();
  #ended: Promise<void> | undefined;
  #catchUpAtMs = 0;
  /** The last workspace of which what waited was looked at. */
  #caughtUp = '';
  /**
   * Messages did not answer; until then it is not asked, so that its time-outs hold up no other
   * segments.
   */
  #askAtMs = 0;

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
      const waiting = await this.#waiting('segment_changes', after);
      const taken = await this.#moveAll(waiting, 'changes');
      await this.#catchUp();
      const isFull = waiting.length === workspacesMax;
      after = isFull ? (waiting.at(-1) ?? '') : '';
      if (taken > 0 || isFull) continue;
      const waitMs = waiting.length > 0 ? busyMs : idleMs;
      await sleep(waitMs, undefined, { signal }).catch(() => {});
    }
  }

  #waiting(table: string, after: string): Promise<string[]> {
    return waitingWorkspaces(this.#context.store, table, after).catch((err) => {
      this.#context.log.warn({ err }, 'changes for segments could not be read; trying again');
      return [];
    });
  }

  /** Looks at what waited for messages, one workspace first, which shows whether it answers. */
  async #catchUp(): Promise<void> {
    if (Date.now() < this.#catchUpAtMs) return;
    this.#catchUpAtMs = Date.now() + askAgainMs;
    this.#askAtMs = 0;
    const [first, ...others] = await this.#waiting('postponed_changes', this.#caughtUp);
    this.#caughtUp = others.at(-1) ?? '';
    if (first === undefined) return;
    const taken = await this.#moveAll([first], 'postponed');
    if (this.#askAtMs > 0) return;
    if (taken + (await this.#moveAll(others, 'postponed')) > 0) this.#catchUpAtMs = 0;
  }

  /** Answers how many changes were taken. */
  async #moveAll(workspaces: readonly string[], source: Source): Promise<number> {
    const queue = [...workspaces];
    let taken = 0;
    const turn = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        if (!this.#stopping.signal.aborted) taken += await this.#move(next, source);
      }
    };
    await Promise.all(Array.from({ length: workspacesAtOnce }, turn));
    return taken;
  }

  async #move(workspaceId: string, source: Source): Promise<number> {
    const pace = this.#paces.get(workspaceId) ?? { changesMax, notBeforeMs: 0 };
    if (pace.notBeforeMs > Date.now()) return 0;
    try {
      const asksMessages = Date.now() >= this.#askAtMs;
      const moving = { workspaceId, changesMax: pace.changesMax, source, asksMessages };
      const moved = await moveContacts(this.#context, moving);
      if (moved !== undefined) this.#paces.delete(workspaceId);
      if (moved?.isPostponed && asksMessages) this.#askAtMs = Date.now() + askAgainMs;
      return moved?.taken ?? 0;
    } catch (error) {
      if (source === 'postponed' && isMessagesAway(error)) {
        this.#askAtMs = Date.now() + askAgainMs;
        return 0;
      }
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
async function waitingWorkspaces(store: Store, table: string, after: string): Promise<string[]> {
  const rows = await store.read<{ id: string }>(
    `with recursive waiting as (
       (select workspace_id from ${table} where workspace_id > $1 order by workspace_id limit 1)
       union all
       (select next.workspace_id from waiting cross join lateral (
          select workspace_id from ${table} where workspace_id > waiting.workspace_id
          order by workspace_id limit 1
        ) next)
     )
     select workspace_id as id from waiting limit ${workspacesMax}`,
    [after],
  );
  return rows.map(({ id }) => id);
}
