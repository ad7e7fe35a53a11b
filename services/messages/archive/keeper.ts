import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { GroupWriter } from '#lib/batching/group-writer.ts';
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
const triesMax = 3;

type KeeperContext = ContentContext & { quotas: Quotas; log: Log };

/** Stores the contents of mails that were sent, beside sending and in groups. */
export class ContentKeeper {
  readonly #context: KeeperContext;
  /** Away from the calls that send: their connections end with them. */
  readonly #outside = AsyncLocalStorage.snapshot();
  readonly #writer = new GroupWriter<SentContent>({
    ...{ groupMax, groupMaxBytes, waitMaxMs: gatherMs },
    sizeOf: ({ bytes }) => bytes.length,
    write: (group) => this.#outside(() => this.#store(group)),
    // Nothing is refused: what cannot be stored is left out.
    refused: () => Promise.resolve(),
  });
  #waitingBytes = 0;
  #dropped = 0;

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
    this.#waitingBytes += bytes.length;
    this.#writer.add({ workspaceId, id, bytes });
  }

  /** Resolves when nothing waits, or after `maxMs`. */
  async drained(maxMs: number): Promise<void> {
    await Promise.race([this.#writer.flush(), sleep(maxMs, undefined, { ref: false })]);
  }

  async #store(group: readonly SentContent[]): Promise<void> {
    try {
      await this.#storeWithin(group, triesMax);
    } catch (err) {
      this.#context.log.warn({ err, count: group.length }, 'contents of mails were not stored');
    }
    for (const { bytes } of group) this.#waitingBytes -= bytes.length;
    if (this.#waitingBytes === 0) this.#reportDropped();
  }

  async #storeWithin(group: readonly SentContent[], triesLeft: number): Promise<void> {
    try {
      await storeContents(this.#context, group);
    } catch (error) {
      if (triesLeft <= 1) throw error;
      await this.#storeWithin(group, triesLeft - 1);
    }
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
