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
import { CallGroups } from '#lib/batching/call-groups.ts';
import { retryLater } from '#lib/errors/errors.ts';
import { outlivingCall } from '#lib/postgres/call-connections.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Quotas } from '#lib/quotas/quotas.ts';
import { type Answers, limitIdle, type Stored, storeOnce } from './accepted.ts';
import type { TransactionalAnswer, TransactionalItem } from './item.ts';
import {
  isReady,
  type PrepareContext,
  type PreparedMessage,
  prepareAll,
  type WritableMessage,
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

type Call = { item: TransactionalItem; sinceMs: number };

/**
 * Accepts transactional messages. Calls of a workspace that come while its group is being written
 * form the next group, so that a commit is shared by all who wait for one.
 */
export class Acceptance {
  readonly #context: AcceptContext;
  readonly #groups: CallGroups<Call, TransactionalAnswer>;
  #heldBytes = 0;
  // A group belongs to no call: it must not end with the one that came first.
  readonly #outside = AsyncLocalStorage.snapshot();

  constructor(context: AcceptContext) {
    this.#context = context;
    this.#groups = new CallGroups({
      ...{ groupMax, groupMaxBytes, waitingMax, runningMax },
      sizeOf: ({ item }) => item.checked.sizeBytes,
      write: (workspaceId, calls) => this.#apart(() => this.#write(workspaceId, calls)),
    });
  }

  /** Answers when the message is stored. */
  async accept(workspaceId: string, item: TransactionalItem): Promise<TransactionalAnswer> {
    const { sizeBytes } = item.checked;
    this.requireRoom(workspaceId);
    if (this.#heldBytes + sizeBytes > heldMaxBytes) throw tooMany();
    const isFirst = this.#groups.waitingOf(workspaceId) === 0 && sizeBytes <= pacedBytesMax;
    const late = isFirst ? this.#whenLate(workspaceId) : undefined;
    this.#heldBytes += sizeBytes;
    const ended = this.#outside(() => this.#context.admission.urgentBegan());
    try {
      return await this.#groups.add(workspaceId, { item, sinceMs: performance.now() });
    } finally {
      this.#outside(ended);
      clearTimeout(late);
      this.#heldBytes -= sizeBytes;
    }
  }

  /** One answer for each message, in their order. */
  acceptAll(
    workspaceId: string,
    items: readonly TransactionalItem[],
  ): Promise<(TransactionalAnswer | Error)[]> {
    this.requireRoom(workspaceId);
    return this.#apart(() => acceptGroup(this.#context, workspaceId, items));
  }

  /** The same for messages of which either all are stored or none. Throws the first fault. */
  async acceptTogether(
    workspaceId: string,
    items: readonly TransactionalItem[],
  ): Promise<TransactionalAnswer[]> {
    const sizeBytes = bytesOf(items);
    this.requireRoom(workspaceId);
    if (this.#heldBytes + sizeBytes > heldMaxBytes) throw tooMany();
    this.#heldBytes += sizeBytes;
    try {
      return await this.#apart(() => acceptWhole(this.#context, workspaceId, items));
    } finally {
      this.#heldBytes -= sizeBytes;
    }
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

  /** Runs a group outside of the calls that it is for. */
  #apart<Result>(run: () => Promise<Result>): Promise<Result> {
    return this.#outside(() => outlivingCall(run));
  }

  async #write(workspaceId: string, calls: readonly Call[]) {
    const items = calls.map(({ item }) => item);
    const outcomes = await acceptGroup(this.#context, workspaceId, items);
    this.#notePace(workspaceId, calls);
    return outcomes;
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
  #notePace(workspaceId: string, calls: readonly Call[]): void {
    if (bytesOf(calls.map(({ item }) => item)) > pacedBytesMax) return;
    const tookMs = performance.now() - (calls[0]?.sinceMs ?? 0);
    this.#context.admission.urgentTook(workspaceId, tookMs);
  }
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

async function acceptWhole(
  context: AcceptContext,
  workspaceId: string,
  items: readonly TransactionalItem[],
): Promise<TransactionalAnswer[]> {
  const prepared = await prepareAll(context, workspaceId, items);
  const fault = prepared.find((each) => each instanceof Error);
  if (fault) throw fault;
  const answers = await write(context, workspaceId, prepared.filter(isReady));
  return answersInOrder(prepared, answers).map((answer) => {
    if (answer instanceof Error) throw answer;
    return answer;
  });
}

/**
 * Writes messages as claimed as far as there is room to send them now; the others wait in the
 * queue.
 */
async function write(
  context: AcceptContext,
  workspaceId: string,
  ready: readonly WritableMessage[],
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
