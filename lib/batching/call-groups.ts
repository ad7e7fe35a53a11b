/*
 * Groups of calls: calls that write the same way share one statement and one commit.
 *
 * A call that finds no group of its key begins one at once, so a lone call never waits. Calls that
 * come while a group is written are the next one, up to `groupMax`, in the order of their arrival.
 * Keys take turns. Each call gets its own answer or error after the commit.
 *
 * Two calls about the same row (`rowOf`) are never in one group: the later one is written after the
 * earlier one. A group whose values the database refuses is halved until the calls that are at
 * fault stand alone. A group that fails otherwise fails for all: it may be written or not.
 *
 * A group is written in the context of its first call, such as its trace, but it does not end with
 * it. A call that was given up while it waited is not written.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { Code } from '@connectrpc/connect';
import { retryLater } from '#lib/errors/errors.ts';
import { Gathering } from './gathering.ts';

export type CallGroupsOptions<Call, Answer> = {
  /** Calls of a group at most. */
  groupMax: number;
  /** Bytes of a group at most, where `sizeOf` says what a call has; a larger call goes alone. */
  groupMaxBytes?: number;
  sizeOf?: (call: Call) => number;
  /** Calls of a key that may wait; beyond that they are refused. */
  waitingMax: number;
  /** Groups at a time. One may wait for locks, so there may be more than connections. */
  runningMax: number;
  /** Keys of one owner share a part of the groups at a time, and leave room for those of others. */
  owner?: { of: (key: string) => string; runningMax: number };
  /** The row that a call is about; if absent, a group takes all calls. */
  rowOf?: (call: Call) => string;
  /** Writes a group: an answer or an error for each call, in their order. */
  write(key: string, calls: readonly Call[]): Promise<readonly (Answer | Error)[]>;
  /** Whether parts of a group that was rejected are tried by themselves. */
  isDivisible?: (error: unknown) => boolean;
};

type Waiting<Call, Answer> = {
  call: Call;
  signal: AbortSignal | undefined;
  within: <Result>(run: () => Result) => Result;
  answer: (outcome: Answer | Error) => void;
};

export class CallGroups<Call, Answer> {
  readonly #options: CallGroupsOptions<Call, Answer>;
  /** Keys with calls that wait; the first is next. */
  readonly #waiting = new Map<string, Waiting<Call, Answer>[]>();
  readonly #busy = new Set<string>();
  /** Groups that run, by owner. */
  readonly #running = new Map<string, number>();
  readonly #gathering = new Gathering(() => this.#pump());

  constructor(options: CallGroupsOptions<Call, Answer>) {
    this.#options = options;
  }

  /** Calls of a key that wait for their group. */
  waitingOf(key: string): number {
    return this.#waiting.get(key)?.length ?? 0;
  }

  /** Answers after the commit. */
  add(key: string, call: Call, signal?: AbortSignal): Promise<Answer> {
    const waiting = this.#waiting.get(key) ?? [];
    if (waiting.length >= this.#options.waitingMax) {
      throw retryLater('too many calls of this kind wait', Code.ResourceExhausted, 1_000);
    }
    this.#waiting.set(key, waiting);
    return new Promise((resolve, reject) => {
      const answer = (outcome: Answer | Error) => {
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      };
      waiting.push({ call, signal, within: AsyncLocalStorage.snapshot(), answer });
      this.#pump();
    });
  }

  #pump(): void {
    const { groupMax, runningMax } = this.#options;
    for (const [key, waiting] of this.#waiting) {
      if (this.#busy.size >= runningMax) return;
      if (this.#busy.has(key) || !this.#hasRoom(key)) continue;
      if (!this.#gathering.mayBegin(key, Math.min(waiting.length, groupMax))) continue;
      this.#waiting.delete(key);
      const { group, left } = this.#take(waiting);
      // Behind the other keys.
      if (left.length > 0) this.#waiting.set(key, left);
      const [first] = group;
      if (!first) continue;
      this.#busy.add(key);
      this.#count(key, 1);
      void first.within(() => this.#run(key, group));
    }
  }

  #hasRoom(key: string): boolean {
    const { owner } = this.#options;
    return !owner || (this.#running.get(owner.of(key)) ?? 0) < owner.runningMax;
  }

  #count(key: string, by: number): void {
    const { owner } = this.#options;
    if (!owner) return;
    const name = owner.of(key);
    const running = (this.#running.get(name) ?? 0) + by;
    if (running === 0) this.#running.delete(name);
    else this.#running.set(name, running);
  }

  /** The first calls that fit into one group. */
  #take(waiting: readonly Waiting<Call, Answer>[]) {
    const { groupMax, groupMaxBytes = Number.POSITIVE_INFINITY, sizeOf, rowOf } = this.#options;
    const group: Waiting<Call, Answer>[] = [];
    const left: Waiting<Call, Answer>[] = [];
    const rows = new Set<string>();
    let bytes = 0;
    let isFull = false;
    for (const each of waiting) {
      if (each.signal?.aborted) {
        each.answer(reasonOf(each.signal));
        continue;
      }
      bytes += sizeOf?.(each.call) ?? 0;
      isFull ||= group.length >= groupMax || (group.length > 0 && bytes > groupMaxBytes);
      const row = rowOf?.(each.call);
      const isTaken = row !== undefined && rows.has(row);
      if (isFull || isTaken) left.push(each);
      else group.push(each);
      if (row !== undefined) rows.add(row);
    }
    return { group, left };
  }

  async #run(key: string, group: readonly Waiting<Call, Answer>[]): Promise<void> {
    try {
      await this.#write(key, group);
    } finally {
      this.#busy.delete(key);
      this.#count(key, -1);
      // One call alone may be one of many about the same row, which cannot be in one group.
      const callers = group.length > 1 ? group.length + this.waitingOf(key) : 1;
      this.#gathering.ended(key, Math.min(callers, this.#options.groupMax));
      this.#pump();
    }
  }

  async #write(key: string, group: readonly Waiting<Call, Answer>[]): Promise<void> {
    try {
      const calls = group.map(({ call }) => call);
      const outcomes = await this.#options.write(key, calls);
      group.forEach(({ answer }, index) => {
        answer(outcomes[index] ?? new Error('a call of a group has no outcome'));
      });
    } catch (error) {
      if (group.length > 1 && this.#options.isDivisible?.(error)) {
        const half = Math.ceil(group.length / 2);
        await this.#write(key, group.slice(0, half));
        await this.#write(key, group.slice(half));
        return;
      }
      for (const { answer } of group) answer(error instanceof Error ? error : new Error('unknown'));
    }
  }
}

const reasonOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new Error('the call was given up');
