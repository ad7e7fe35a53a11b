import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { identityOf } from './identity.ts';

export type HoldRow = { since: Date; reason: string };

const readEveryMs = 1_000;
const restored =
  'on hold: the database was restored; see what is in doubt with system.hold, and release it with system.releaseHold';

/** A condition for statements that claim messages: with a hold they claim nothing. */
export const notOnHold = 'not exists (select from holds)';

/**
 * The hold of the installation, with which nothing is sent. Statements that claim messages read its
 * row; this copy, a second old at most, tells callers why.
 */
export class Hold {
  readonly #store: Store;
  readonly #log: Log;
  readonly #holdsRestored: boolean;
  #reason = '';
  #identity = '';
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  /** `holdsRestored`: a database whose identity has changed is put on hold. */
  constructor(store: Store, { log, holdsRestored }: { log: Log; holdsRestored: boolean }) {
    this.#store = store;
    this.#log = log;
    this.#holdsRestored = holdsRestored;
  }

  /** Why nothing is sent; empty if there is no hold. */
  get reason(): string {
    return this.#reason;
  }

  /** Before anything is sent: a restored database must not send. */
  async start(): Promise<void> {
    await this.refresh();
    this.#timer = setInterval(() => {
      this.refresh().catch(() => {
        // The database is away, so nothing can be claimed either.
      });
    }, readEveryMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * One reading at a time, so that a slow database does not have its connections taken by more and
   * more of them. Callers that ask meanwhile share the next one, which sees what they have written.
   */
  refresh(): Promise<void> {
    this.#next ??= this.#reading
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        this.#reading = this.#read();
        return this.#reading;
      });
    return this.#next;
  }

  async #read(): Promise<void> {
    // A process may outlive the restore of its database.
    const identity = await identityOf(this.#store);
    if (identity !== this.#identity) await this.#recognize(identity);
    this.#identity = identity;
    const reason = (await readHold(this.#store))?.reason ?? '';
    if (reason !== this.#reason) {
      this.#log.warn(
        { reason },
        reason === '' ? 'the hold is released' : 'nothing is sent: on hold',
      );
    }
    this.#reason = reason;
  }

  async #recognize(identity: string): Promise<void> {
    await this.#store.fork().transactional(async (em) => {
      const [before] = await query<{ identity: string }>(
        em,
        `insert into database_identity (identity) values ($1)
         on conflict (id) do update set identity = database_identity.identity
         returning identity`,
        [identity],
      );
      if (before?.identity === identity) return;
      await query(em, 'update database_identity set identity = $1', [identity]);
      if (this.#holdsRestored) await placeHold(em, restored);
    });
  }
}

type Statements = Parameters<typeof query>[0];

/** A hold that is there already stays as it is. */
export async function placeHold(em: Statements, reason: string): Promise<void> {
  await query(em, 'insert into holds (reason) values ($1) on conflict do nothing', [reason]);
}

export async function readHold(store: Store): Promise<HoldRow | undefined> {
  const [row] = await query<{ since: string; reason: string }>(
    store.fork(),
    'select since, reason from holds',
    [],
  );
  return row && { since: new Date(row.since), reason: row.reason };
}
