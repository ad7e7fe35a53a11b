/** The first of the callers that come back waits so long for the others. */
const gatherMs = 8;
/** Callers that come later than this after their answer are new ones. */
const returnMs = 30;

type Expected = { callers: number; isWaiting: boolean; timer: NodeJS.Timeout };

/**
 * Waits for callers that have just had their answer and call again: a group costs about the same
 * whatever its size, and without a wait the first to come back would be a group of its own, and all
 * others wait for it.
 */
export class Gathering {
  /** By workspace; for some milliseconds after a group. */
  readonly #expected = new Map<string, Expected>();
  readonly #ready: () => void;

  /** `ready` is called when a workspace has waited long enough. */
  constructor(ready: () => void) {
    this.#ready = ready;
  }

  /** A group has ended; `callers` includes those who waited for its end. */
  ended(workspaceId: string, callers: number): void {
    if (callers < 2) return;
    const timer = setTimeout(() => this.#expected.delete(workspaceId), returnMs).unref();
    this.#expected.set(workspaceId, { callers, isWaiting: false, timer });
  }

  /** Whether a group may begin, now that at least one call waits. */
  mayBegin(workspaceId: string, count: number): boolean {
    const expected = this.#expected.get(workspaceId);
    if (!expected) return true;
    if (count >= expected.callers) {
      clearTimeout(expected.timer);
      this.#expected.delete(workspaceId);
      return true;
    }
    if (!expected.isWaiting) {
      clearTimeout(expected.timer);
      expected.isWaiting = true;
      // In a busy process calls that have arrived by then are read only after its timers ran.
      const over = () => setImmediate(() => this.#over(workspaceId, expected));
      expected.timer = setTimeout(over, gatherMs);
    }
    return false;
  }

  #over(workspaceId: string, expected: Expected): void {
    if (this.#expected.get(workspaceId) !== expected) return;
    this.#expected.delete(workspaceId);
    this.#ready();
  }
}
