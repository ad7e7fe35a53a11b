/*
 * The journal: what a process has claimed, begun and settled, on local disk until PostgreSQL has
 * it.
 *
 * Per message, the last line counts: c claimed, b about to be written, o its outcome. Claims and
 * outcomes reach the disk within 20 ms; b is on it before a byte of the body leaves. A full disk
 * stops sending (`isWritable`), and nothing else.
 *
 * Limits: the file is written anew with what is open once it has 8 MiB. It holds ids and servers'
 * words, no address.
 *
 * Next: the next process on this machine locks the folder and replays the files of dead ones before
 * its first claim (`delivery/replay.ts`): o is recorded, b counts as unknown, c is given back.
 */

import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { PassingMap } from '#lib/collections/passing-map.ts';
import { LoopTurn } from '#lib/limits/turns.ts';
import type { SendResult } from './results.ts';

/** A file that has grown by this is written anew with what is still open. */
const rewriteBytes = 8 * 1024 * 1024;
/** Longest delay of claims and outcomes; an intent is written at once, and takes them with it. */
const flushAfterMs = 20;

export type JournalHeader = {
  /** The process that writes. */
  owner: string;
  /** The database whose messages these are. */
  database: string;
};

/** A message whose body is about to be written. */
export type Intent = { workspaceId: string; id: string; unknownRetries: number };

/** A line of the file, in JSON; the last line of a message counts. */
export type JournalLine =
  /** Claimed. */
  | ['c', workspaceId: string, id: string]
  /** Its body was about to be written. */
  | ['b', workspaceId: string, id: string, unknownRetries: number]
  /** Its outcome. */
  | ['o', workspaceId: string, result: SendResult];

/**
 * Keeps on local disk which messages this process has claimed, begun and settled, until that is in
 * the record: after a kill the next process knows what may have arrived. It holds ids and servers'
 * words, and no address.
 */
export class Journal {
  readonly #path: string;
  readonly #owner: string;
  readonly #sizeMax: number;
  #header = '';
  /** The newest line of each message that is not in the record yet. */
  readonly #open = new PassingMap<string, string>();
  #fd: number | undefined;
  #pending = '';
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #isBroken = false;
  /** Told once the intents of this turn are on the disk. */
  #beginning: ((isOnDisk: boolean) => void)[] = [];

  constructor(folder: string, owner: string, sizeMax = rewriteBytes) {
    this.#sizeMax = sizeMax;
    this.#path = join(folder, `${owner}.journal`);
    this.#owner = owner;
  }

  /** Starts the file; nothing may be claimed before. */
  open(database: string): void {
    const header: JournalHeader = { owner: this.#owner, database };
    this.#header = `${JSON.stringify(header)}\n`;
    this.#fd = this.#write(this.#path);
  }

  /**
   * Whether the disk took everything so far. Tries again where it did not; nothing may be begun
   * meanwhile.
   */
  get isWritable(): boolean {
    if (!this.#isBroken) return true;
    try {
      this.#rewrite();
      this.#isBroken = false;
      return true;
    } catch {
      return false;
    }
  }

  claim(workspaceId: string, ids: readonly string[]): void {
    const workspace = JSON.stringify(workspaceId);
    for (const id of ids) this.#add(id, `["c",${workspace},"${id}"]\n`);
    this.#flushSoon();
  }

  /**
   * Called before a message's body is written. All that begin in one turn of the event loop go to
   * the disk together, then
   * `onDisk` is called; with false where the disk is full: the body must not be written then.
   */
  begin({ workspaceId, id, unknownRetries }: Intent, onDisk: (isOnDisk: boolean) => void): void {
    this.#add(id, `["b",${JSON.stringify(workspaceId)},"${id}",${unknownRetries}]\n`);
    if (this.#beginning.push(onDisk) === 1) setImmediate(() => this.#flushIntents());
  }

  settle(workspaceId: string, result: SendResult): void {
    this.#add(result.id, `["o",${JSON.stringify(workspaceId)},${JSON.stringify(result)}]\n`);
    this.#flushSoon();
  }

  /** It is in the record, or was given back. */
  forget(id: string): void {
    this.#open.delete(id);
  }

  /** The file goes unless something in it is not in the record. */
  close(): void {
    clearTimeout(this.#timer);
    if (this.#fd === undefined) return;
    if (this.#open.size > 0) this.#flushQuietly();
    closeSync(this.#fd);
    this.#fd = undefined;
    if (this.#open.size === 0) rmSync(this.#path, { force: true });
  }

  #add(id: string, line: string): void {
    this.#open.set(id, line);
    this.#pending += line;
  }

  #flushIntents(): void {
    const beginning = this.#beginning;
    this.#beginning = [];
    this.#flushQuietly();
    void tell(beginning, !this.#isBroken);
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => this.#flushQuietly(), flushAfterMs);
  }

  #flushQuietly(): void {
    try {
      this.#flush();
    } catch {
      // `isWritable` says so.
    }
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#pending;
    try {
      if (this.#isBroken || this.#bytes + text.length > this.#sizeMax) this.#rewrite();
      else this.#append(this.#opened(), text);
      this.#pending = '';
      this.#isBroken = false;
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
  }

  /** Writes what is open into a new file in place of the old one. */
  #rewrite(): void {
    const path = `${this.#path}.new`;
    const fd = this.#write(path);
    renameSync(path, this.#path);
    closeSync(this.#opened());
    this.#fd = fd;
    this.#pending = '';
  }

  #opened(): number {
    if (this.#fd === undefined) throw new Error('the journal is not open');
    return this.#fd;
  }

  #write(path: string): number {
    const fd = openSync(path, 'w', 0o600);
    try {
      this.#bytes = 0;
      this.#append(fd, this.#header + [...this.#open.values()].join(''));
      return fd;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  #append(fd: number, text: string): void {
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length; ) from += writeSync(fd, bytes, from);
    this.#bytes += bytes.length;
  }
}

/** Each writes a body, so that others have turns between them. */
async function tell(
  beginning: readonly ((isOnDisk: boolean) => void)[],
  isOnDisk: boolean,
): Promise<void> {
  const turn = new LoopTurn();
  for (const onDisk of beginning) {
    if (turn.isOver) await turn.next();
    onDisk(isOnDisk);
  }
}
