import { LruMap } from '#lib/collections/lru-map.ts';
import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';

const hourMs = 60 * 60_000;
const writeEveryMs = 30_000;
const keysMax = 10_000;

/**
 * Writes the hour in which each API key was last used: in bulk, apart from the calls, and at most
 * once an hour for a key and process.
 */
export class LastUse {
  /** The last hour that was noted for a key, waiting or written. */
  readonly #noted = new LruMap<number>({ max: keysMax });
  #waiting = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  readonly #store: Store;
  readonly #log: Pick<Log, 'warn'>;

  constructor(store: Store, log: Pick<Log, 'warn'>) {
    this.#store = store;
    this.#log = log;
  }

  note(userId: string, at: Date): void {
    const hour = Math.floor(at.getTime() / hourMs);
    if ((this.#noted.get(userId) ?? 0) >= hour || this.#waiting.size >= keysMax) return;
    this.#noted.set(userId, hour);
    this.#waiting.set(userId, hour);
  }

  start(): void {
    this.#timer = setInterval(() => void this.write(), writeEveryMs).unref();
  }

  /** Writes what waits. If that fails, it waits for the next time. */
  async write(): Promise<void> {
    const batch = this.#waiting;
    if (batch.size === 0) return;
    this.#waiting = new Map();
    try {
      await this.#store.fork().transactional((em) =>
        query(
          em,
          // Locked in one order, so that processes that write the same keys cannot deadlock.
          `with used as materialized (
             select users.id, to_timestamp(hour * 3600.0) as at
             from unnest($1::uuid[], $2::int[]) as noted (id, hour)
             join users on users.id = noted.id
             where users.last_used_at is null or users.last_used_at < to_timestamp(hour * 3600.0)
             order by users.id
             for no key update of users
           )
           update users set last_used_at = used.at from used where users.id = used.id`,
          [[...batch.keys()], [...batch.values()]],
        ),
      );
    } catch (error) {
      this.#log.warn({ err: error, keys: batch.size }, 'the last use of keys is written later');
      this.#waiting = new Map([...batch, ...this.#waiting]);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.write();
  }
}
