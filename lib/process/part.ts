import type { Env } from '#lib/env.ts';
import type { Log } from '#lib/log.ts';

/**
 * A service, the worker of a service or the gateway. A process runs one, or several beside each
 * other.
 */
export type ProcessPart = {
  /**
   * Reads its settings, and throws one error that names all that are wrong. The answer starts it,
   * and resolves when it is ready.
   */
  configure(env: Env): () => Promise<RunningProcess>;
};

export type RunningProcess = {
  log: Log;
  readiness(): Promise<Readiness>;
  /**
   * From now on its own health says that it does not serve, while it still does. Absent where
   * nobody calls it.
   */
  retire?(): void;
  /** Finishes what it has begun. */
  stop(): Promise<void>;
};

/** In words for operators, with the command that helps. */
export type Readiness = {
  /** Faults that keep it from working. */
  missing: string[];
  /** Faults that it works with, though not as well. */
  warnings: string[];
};

export const ready: Readiness = { missing: [], warnings: [] };
