/*
 * Acceptance: transactional calls become rows, many with one commit.
 *
 * Calls of a workspace that come while a group of it is being written form the next group: up to
 * 200 messages or 32 MiB. Order of a group: prepare (template, contact, suppressions, repeats),
 * take room to send, write, answer, then deliver (`send-now.ts`).
 *
 * Invariants: a call is answered after the commit of its message. Without room a message is written
 * as deferred and waits in the queue (`queue-runner.ts`). An `Idempotency-Key` or external id that
 * is known writes nothing.
 *
 * Limits: 32 groups at a time, 1,000 calls of a workspace that wait, 256 MiB of all; beyond that
 * 429.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { Code, type ConnectError } from '@connectrpc/connect';
import { retryLater } from '#lib/errors/errors.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Quotas } from '#lib/quotas/quotas.ts';
import { type Answers, limitIdle, type Stored, storeOnce } from './accepted.ts';
import { Gathering } from './gathering.ts';
import type { TransactionalAnswer, TransactionalItem } from './item.ts';
import {
  isReady,
  type PrepareContext,
  type PreparedMessage,
  prepareAll,
  type Ready,
} from './prepare.ts';
import { type SendNowContext, sendNow, takeRoom } from './send-now.ts';

export type AcceptContext = PrepareContext & SendNowContext & { quotas: Quotas };

/** In one statement. */
const groupMax = 200;
const groupMaxBytes = 32 * 1024 * 1024;
/** Calls of a workspace that wait for their group. */
const waitingMax = 1_000;
/** Of all calls that wait or are being written: files, and values for Liquid. */
const heldMaxBytes = 256 * 1024 * 1024;
/**
 * Groups of all workspaces at a time. One may wait for locks of its workspace, so that there are
 * more than connections.
 */
const runningMax = 32;
/** A larger group says nothing about how busy the process is. */
const pacedBytesMax = 1024 * 1024;
/** A call that has waited so long without an answer is slow already. */
const lateMs = 45;

type Waiting = {
  item: TransactionalItem;
  sinceMs: number;
  /** Of the first of a group. */
  late: NodeJS.Timeout | undefined;
  answer: (outcome: TransactionalAnswer | Error) => void;
};

/**
 * Accepts transactional messages. Those of a workspace that come while a group of it is being
 * written form the next group, so that a commit is shared by all who wait for one.
 */
export class Acceptance {
  readonly #context: AcceptContext;
  /** Workspaces with calls that wait; the first is next. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #busy = new Set<string>();
  readonly #gathering = new Gathering(() => this.#pump());
  #heldBytes = 0;
  // A group belongs to no call: it must not end with the one that came first.
  readonly #outside = AsyncLocalStorage.snapshot();

  constructor(context: AcceptContext) {
    this.#context = context;
  }

  /** Answers when the message is stored. */
  accept(workspaceId: string, item: TransactionalItem): Promise<TransactionalAnswer> {
    const waiting = this.#waiting.get(workspaceId) ?? [];
    const { sizeBytes } = item.checked;
    this.requireRoom(workspaceId);
    const isFull = waiting.length >= waitingMax || this.#heldBytes + sizeBytes > heldMaxBytes;
    if (isFull) throw tooMany();
    this.#waiting.set(workspaceId, waiting);
    this.#heldBytes += sizeBytes;
    return new Promise((resolve, reject) => {
      const answer = (outcome: TransactionalAnswer | Error) => {
        this.#heldBytes -= sizeBytes;
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      };
      const isFirst = waiting.length === 0 && sizeBytes <= pacedBytesMax;
      const late = isFirst ? this.#whenLate(workspaceId) : undefined;
      waiting.push({ item, sinceMs: performance.now(), late, answer });
      this.#pump();
    });
  }

  /** One answer for each message, in their order. */
  acceptAll(
    workspaceId: string,
    items: readonly TransactionalItem[],
  ): Promise<(TransactionalAnswer | Error)[]> {
    this.requireRoom(workspaceId);
    return this.#outside(() => acceptGroup(this.#context, workspaceId, items));
  }

  /** Throws QUOTA_EXCEEDED while too many messages of the workspace wait in the queue. */
  requireRoom(workspaceId: string): void {
    const { quotas } = this.#context;
    quotas.requireRoom(workspaceId, 'queued_messages');
    quotas.requireRoom(workspaceId, 'queued_bytes');
  }

  /** Messages were written into the queue. */
  queued(workspaceId: string, items: readonly TransactionalItem[]): void {
    const { quotas } = this.#context;
    quotas.grew(workspaceId, 'queued_messages', items.length);
    quotas.grew(workspaceId, 'queued_bytes', bytesOf(items));
    this.#context.queued();
  }

  #pump(): void {
    for (const [workspaceId, waiting] of this.#waiting) {
      if (this.#busy.size >= runningMax) return;
      if (this.#busy.has(workspaceId)) continue;
      if (!this.#gathering.mayBegin(workspaceId, Math.min(waiting.length, groupMax))) continue;
      this.#waiting.delete(workspaceId);
      const group = waiting.splice(0, fitting(waiting));
      // Behind the other workspaces.
      if (waiting.length > 0) this.#waiting.set(workspaceId, waiting);
      this.#busy.add(workspaceId);
      void this.#outside(() => this.#run(workspaceId, group));
    }
  }

  async #run(workspaceId: string, group: readonly Waiting[]): Promise<void> {
    try {
      const items = group.map(({ item }) => item);
      const outcomes = await acceptGroup(this.#context, workspaceId, items);
      this.#notePace(workspaceId, group);
      group.forEach(({ answer }, index) => {
        answer(outcomes[index] ?? new Error('a message of a group has no outcome'));
      });
    } catch (error) {
      for (const { answer } of group) answer(error instanceof Error ? error : new Error('unknown'));
    } finally {
      clearTimeout(group[0]?.late);
      this.#busy.delete(workspaceId);
      const callers = group.length + (this.#waiting.get(workspaceId)?.length ?? 0);
      this.#gathering.ended(workspaceId, Math.min(callers, groupMax));
      this.#pump();
    }
  }

  /**
   * A busy process has calls wait for many turns: bulk mail waits before the first of them is
   * answered.
   */
  #whenLate(workspaceId: string): NodeJS.Timeout {
    const late = () => this.#context.admission.urgentTook(workspaceId, lateMs);
    // Bulk mail that goes on then must not run in the context of this call.
    return this.#outside(() => setTimeout(late, lateMs));
  }

  /** Bulk mail is not held for what takes long by its size. */
  #notePace(workspaceId: string, group: readonly Waiting[]): void {
    const bytes = group.reduce((sum, { item }) => sum + item.checked.sizeBytes, 0);
    if (bytes > pacedBytesMax) return;
    const tookMs = performance.now() - (group[0]?.sinceMs ?? 0);
    this.#context.admission.urgentTook(workspaceId, tookMs);
  }
}

/** How many of those who wait make a group; at least one. */
function fitting(waiting: readonly Waiting[]): number {
  let bytes = 0;
  const first = waiting.findIndex(({ item }, index) => {
    bytes += item.checked.sizeBytes;
    return index >= groupMax || (index > 0 && bytes > groupMaxBytes);
  });
  return first < 0 ? waiting.length : first;
}

const bytesOf = (items: readonly Pick<TransactionalItem, 'checked'>[]) =>
  items.reduce((sum, { checked }) => sum + checked.sizeBytes, 0);

function tooMany(): ConnectError {
  return retryLater('too many accepted messages wait', Code.ResourceExhausted, 1_000);
}

async function acceptGroup(
  context: AcceptContext,
  workspaceId: string,
  items: readonly TransactionalItem[],
): Promise<(TransactionalAnswer | Error)[]> {
  const prepared = await prepareAll(context, workspaceId, items);
  const ready = prepared.filter(isReady);
  const answers = await write(context, workspaceId, ready);
  return answersInOrder(prepared, answers);
}

/**
 * Writes messages as claimed as far as there is room to send them now; the others wait in the
 * queue.
 */
async function write(
  context: AcceptContext,
  workspaceId: string,
  ready: readonly Ready[],
): Promise<Answers> {
  if (ready.length === 0) return new Map();
  const { store, owner } = context;
  const fresh = ready.filter(
    ({ repeatOf, firstOfGroup }) => repeatOf === undefined && firstOfGroup === undefined,
  );
  const room = await takeRoom(context, workspaceId, fresh);
  const isOneStatement = ready.every(({ checked, keyed }) => checked.files.length === 0 && !keyed);
  const by = { workspaceId, owner };
  const inTransaction = async (em: EntityManager) => {
    await limitIdle(em);
    return storeOnce(em, by, ready);
  };
  let stored: Stored;
  try {
    stored = await (isOneStatement
      ? storeOnce(store.fork(), by, ready)
      : store.fork().transactional(inTransaction));
  } catch (error) {
    room?.claim.abandon();
    throw error;
  }
  const { written, answers } = stored;
  if (room) {
    const claimed = room.claim.held.flatMap(({ id }) => (written.has(id) ? [id] : []));
    void room.claim.keep(new Set(claimed));
    // Callers have their answers before the messages are rendered.
    setImmediate(() => sendNow(context, room, written));
  }
  const queued = fresh.filter(({ row }) => row.status === 'deferred');
  context.quotas.grew(workspaceId, 'queued_messages', queued.length);
  context.quotas.grew(workspaceId, 'queued_bytes', bytesOf(fresh));
  if (queued.some(({ row }) => !row.dueAt)) context.queued();
  return answers;
}

/** Writes messages into the queue, in a transaction of the caller's. */
export async function acceptInto(
  em: EntityManager,
  { owner }: { owner: string },
  { workspaceId, prepared }: { workspaceId: string; prepared: readonly PreparedMessage[] },
): Promise<(TransactionalAnswer | Error)[]> {
  const ready = prepared.filter(isReady);
  await limitIdle(em);
  const { answers } = await storeOnce(em, { workspaceId, owner }, ready);
  return answersInOrder(prepared, answers);
}

function answersInOrder(prepared: readonly PreparedMessage[], answers: Answers) {
  return prepared.map((each) => {
    if (each instanceof Error) return each;
    if (!isReady(each)) return each.replayed;
    return answers.get(each.id) ?? new Error('a message was not written');
  });
}
