import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';

const lookEveryMs = 250;

type Watch = { key: BroadcastKey; revision: number; changed: () => void };

/**
 * Watches the rows of all broadcasts that this process sends, with one statement four times a
 * second.
 */
export class Revisions {
  readonly #watches = new Set<Watch>();
  readonly #store: Store;
  #ticker: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Calls `changed` once the row has another revision, or is gone. Returns the end of the watch.
   */
  watch(key: BroadcastKey, revision: number, changed: () => void): () => void {
    const watch = { key, revision, changed };
    this.#watches.add(watch);
    this.#ticker ??= setInterval(() => this.#tick(), lookEveryMs);
    return () => {
      this.#watches.delete(watch);
      if (this.#watches.size > 0) return;
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    };
  }

  #tick(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#look()
      // A database that is away for a moment stops nothing: the claims of messages decide.
      .catch(() => undefined)
      .finally(() => {
        this.#isLooking = false;
      });
  }

  async #look(): Promise<void> {
    const watches = [...this.#watches];
    const rows = await query<{ place: number; revision: number }>(
      this.#store.fork(),
      `select place::int, b.revision
       from unnest($1::text[], $2::text[]) with ordinality as given (workspace_id, id, place)
       join broadcasts b on b.workspace_id = given.workspace_id and b.id = given.id`,
      [watches.map(({ key }) => key.workspaceId), watches.map(({ key }) => key.id)],
    );
    const revisions = new Map(rows.map(({ place, revision }) => [place - 1, revision]));
    for (const [place, watch] of watches.entries()) {
      if (revisions.get(place) === watch.revision || !this.#watches.delete(watch)) continue;
      watch.changed();
    }
  }
}
