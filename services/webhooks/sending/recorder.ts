import type { Log } from '#lib/log.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Result } from './results.ts';

export type RecorderContext = { store: Store; log: Log; now: () => Date };

/** Records what became of deliveries, in groups. They belong to the process: no result is dropped while it lives. */
export class Recorder {
  readonly context: RecorderContext;
  constructor(context: RecorderContext) {
    this.context = context;
  }
  /** Settles when the result is stored. */
  add(result: Result): Promise<void> {
    throw new Error(`not built ${result}`);
  }
  /** Whether so many results are not stored yet that nothing more may be claimed. */
  get isBehind(): boolean {
    return false;
  }
  /** Settles when all results are stored. */
  async flush(): Promise<void> {}
}
