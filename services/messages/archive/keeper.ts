import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#lib/log.ts';
import type { Quotas } from '#lib/quotas/quotas.ts';
import { type MailParts, roughLength } from '../mime/mail.ts';
import { encodeContent } from './encode.ts';
import { type ContentContext, type SentContent, storeContents } from './store.ts';

/** Of one mail, encoded and without files. */
const contentMaxBytes = 1024 * 1024;
/** Of those that wait; more are dropped, since they must neither delay mail nor fill the memory. */
const waitingMaxBytes = 32 * 1024 * 1024;
/** Bounds a statement. */
const groupMax = 100;
const groupMaxBytes = 2 * contentMaxBytes;
const gatherMs = 100;

type KeeperContext = ContentContext & { quotas: Quotas; log: Log };

/** Stores the contents of mails that were sent, beside sending and in groups. */
export class ContentKeeper {
  readonly #context: KeeperContext;
  /** Away from the calls that send: their connections end with them. */
  readonly #outside = AsyncLocalStorage.snapshot();
  #waiting: SentContent[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #work: Promise<void> | undefined;

  constructor(context: KeeperContext) {
    this.#context = context;
  }

  /** Takes a mail that was sent, unless its workspace is at the quota of contents; never throws. */
  keep(workspaceId: string, id: string, mail: MailParts): void {
    const bytes = encoded(mail);
    if (!bytes) return;
    const { quotas } = this.#context;
    if (quotas.room(workspaceId, 'content_bytes') <= 0) return;
    if (this.#waitingBytes + bytes.length > waitingMaxBytes) {
      this.#dropped += 1;
      return;
    }
    quotas.grew(workspaceId, 'content_bytes', bytes.length);
    this.#waiting.push({ workspaceId, id, bytes });
    this.#waitingBytes += bytes.length;
    this.#work ??= this.#outside(() => this.#storeAll());
  }

  /** Resolves when nothing waits, or after `maxMs`. */
  async drained(maxMs: number): Promise<void> {
    await Promise.race([this.#work, sleep(maxMs, undefined, { ref: false })]);
  }

  async #storeAll(): Promise<void> {
    await sleep(gatherMs);
    while (this.#waiting.length > 0) {
      const group = this.#nextGroup();
      await this.#store(group);
      for (const { bytes } of group) this.#waitingBytes -= bytes.length;
    }
    this.#work = undefined;
    this.#reportDropped();
  }

  async #store(group: readonly SentContent[], triesLeft = 2): Promise<void> {
    try {
      await storeContents(this.#context, group);
    } catch (err) {
      if (triesLeft > 0) return this.#store(group, triesLeft - 1);
      this.#context.log.warn({ err, count: group.length }, 'contents of mails were not stored');
    }
  }

  #nextGroup(): SentContent[] {
    let size = 0;
    const end = this.#waiting.findIndex(({ bytes }, index) => {
      size += bytes.length;
      return index === groupMax || (index > 0 && size > groupMaxBytes);
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  #reportDropped(): void {
    if (this.#dropped === 0) return;
    const { log } = this.#context;
    log.warn({ count: this.#dropped }, 'contents of mails were dropped: too many waited');
    this.#dropped = 0;
  }
}

/** Undefined where it is too large to be kept. */
function encoded(mail: MailParts): Buffer | undefined {
  if (roughLength(mail) > contentMaxBytes) return undefined;
  try {
    const bytes = encodeContent(mail);
    return bytes.length > contentMaxBytes ? undefined : bytes;
  } catch {
    return undefined;
  }
}
