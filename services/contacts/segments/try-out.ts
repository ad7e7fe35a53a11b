import { Code } from '@connectrpc/connect';
import { FairQueue } from '#lib/collections/fair-queue.ts';
import { invalidField, retryLater } from '#lib/errors/errors.ts';
import { composed } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { compileStages } from './compile/staged.ts';
import { type EvaluationContext, evaluate } from './evaluate.ts';
import { isFaultOfTree, isTooSlow, reasonOf } from './segment-fault.ts';
import { leavesOf, readsMessages, type Tree } from './tree/tree.ts';

const atOnce = 2;
/** All evaluations that wait in a process, and those of one workspace. */
const waitingMax = 100;
const waitingPerWorkspaceMax = 5;
const waitMaxMs = 10_000;
const evaluationMaxMs = 10_000;
const rangeSize = 10_000;
const workMemoryMb = 128;
/** The default of PostgreSQL. */
const workMemoryMinMb = 4;
const retryMs = 5_000;

export type SegmentPreview = { emails: string[]; total: number };
type TryOutRequest = { workspaceId: string; tree: Tree; limit: number };

/**
 * Evaluations of whole workspaces, a few at a time, so that they leave the database to others;
 * workspaces take turns.
 */
export class TryOuts {
  readonly #queue = new FairQueue<() => void>();
  #waiting = 0;
  #running = 0;

  /** Returns the contacts that would be in a segment. InvalidArgument if that takes too long. */
  async run(context: EvaluationContext, asked: TryOutRequest): Promise<SegmentPreview> {
    await this.#enter(asked.workspaceId);
    try {
      return await preview(context, asked);
    } catch (error) {
      if (!isFaultOfTree(error)) throw error;
      throw isTooSlow(error) ? tooSlow() : invalidField('tree', `tree: ${reasonOf(error)}`);
    } finally {
      this.#running -= 1;
      this.#queue.take()?.item();
    }
  }

  async #enter(workspaceId: string): Promise<void> {
    if (this.#running < atOnce) {
      this.#running += 1;
      return;
    }
    const isFull =
      this.#waiting >= waitingMax || this.#queue.sizeOf(workspaceId) >= waitingPerWorkspaceMax;
    if (isFull) throw busy();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      this.#running += 1;
      resolve();
    };
    const timer = setTimeout(() => {
      if (this.#queue.remove(workspaceId, start)) reject(busy());
    }, waitMaxMs);
    this.#queue.add(workspaceId, start);
    this.#waiting += 1;
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting -= 1;
    }
  }
}

const busy = () =>
  retryLater('too many segments are evaluated at once', Code.ResourceExhausted, retryMs);

const tooSlow = () =>
  invalidField('tree', `tree takes longer than ${evaluationMaxMs / 1_000} seconds to evaluate`);

function preview(context: EvaluationContext, asked: TryOutRequest): Promise<SegmentPreview> {
  const until = Date.now() + evaluationMaxMs;
  return context.store.fork().transactional(
    async (em) => {
      await query(em, 'set local jit = off', []);
      // A workspace's events are grouped in memory; there are at most `atOnce` of these.
      await query(em, `set local work_mem = '64MB'`, []);
      return readsMessages(asked.tree)
        ? previewByRanges(context, em, asked, until)
        : previewAtOnce(context, em, asked, until);
    },
    { readOnly: true },
  );
}

async function limitTime(em: EntityManager, untilMs: number): Promise<void> {
  const leftMs = untilMs - Date.now();
  if (leftMs <= 0) throw tooSlow();
  await query(em, `set local statement_timeout = ${leftMs}`, []);
}

/**
 * Memory for each condition, so that the groups of a few fit for a million contacts. All of a tree
 * share it: PostgreSQL may hold the groups of every condition at one time.
 */
function groupingMb({ root }: Tree): number {
  return Math.max(workMemoryMinMb, Math.floor(workMemoryMb / leavesOf(root).length));
}

async function previewAtOnce(
  { now }: EvaluationContext,
  em: EntityManager,
  { workspaceId, tree, limit }: TryOutRequest,
  untilMs: number,
): Promise<SegmentPreview> {
  await limitTime(em, untilMs);
  await query(em, `set local work_mem = '${groupingMb(tree)}MB'`, []);
  await query(em, 'set local parallel_tuple_cost = 0.01', []);
  const { steps, values } = compileStages(tree, { workspaceId, now: now() });
  const [row] = await query<{ emails: string[] | null; total: number }>(
    em,
    composed(`with ${steps}
     select (select count(*)::int from matched) as total,
       (select array_agg(email) from (select email from matched order by email limit ${limit}) first) as emails`),
    values,
  );
  return { emails: row?.emails ?? [], total: row?.total ?? 0 };
}

/** A tree that reads messages is evaluated in ranges, since its facts come over the network. */
async function previewByRanges(
  context: EvaluationContext,
  em: EntityManager,
  { workspaceId, tree, limit }: TryOutRequest,
  untilMs: number,
): Promise<SegmentPreview> {
  const preview: SegmentPreview = { emails: [], total: 0 };
  for (let after: string | undefined = ''; after !== undefined; ) {
    await limitTime(em, untilMs);
    const last: string | undefined = await endOfRange(em, workspaceId, after);
    const scope = { kind: 'range' as const, after, ...(last === undefined ? {} : { last }) };
    const found = await evaluate(context, em, { workspaceId, scope, trees: [tree] });
    const emails = [...found.keys()].sort();
    preview.total += emails.length;
    preview.emails.push(...emails.slice(0, limit - preview.emails.length));
    after = last;
  }
  return preview;
}

async function endOfRange(
  em: EntityManager,
  workspaceId: string,
  after: string,
): Promise<string | undefined> {
  const [row] = await query<{ email: string }>(
    em,
    `select email from contacts where workspace_id = $1 and email > $2 order by email offset ${rangeSize - 1} limit 1`,
    [workspaceId, after],
  );
  return row?.email;
}
