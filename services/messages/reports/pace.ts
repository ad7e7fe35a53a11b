/** Of the time while mail is sent. */
const shareMin = 0.05;
/** Reports that have waited for less have the least share, and all of the time after the other. */
const patientMs = 60_000;
const waitMaxMs = 10 * 60_000;
/** However long work took, such as beside a slow database. */
const restMaxMs = 60_000;

/**
 * Lets work on reports that are answered give way to mail: while this process sends much, it has a
 * twentieth of the time, and more the longer reports wait, so that none waits much longer than ten
 * minutes. Each process has a pace of its own.
 */
export class ReportPace {
  readonly #isSending: () => boolean;
  #restsUntilMs = 0;
  /** How long the last work lets rest. */
  #restMs = 0;
  /** The last turn that was given. */
  #turnMs = 0;

  constructor(isSending: () => boolean) {
    this.#isSending = isSending;
  }

  /** When work goes on; undefined for now. */
  nextAt(nowMs = Date.now()): Date | undefined {
    const rests = this.#restsUntilMs > nowMs && this.#isSending();
    return rests ? new Date(this.#restsUntilMs) : undefined;
  }

  /**
   * When a job that a rest puts off is to come back; undefined where work goes on now. Each has a
   * turn of its own, as far as a minute has room: a thousand workspaces' jobs that came back at the
   * end of each rest, to be put off again, would cost more than their work.
   */
  turn(nowMs = Date.now()): Date | undefined {
    const next = this.nextAt(nowMs)?.getTime();
    if (next === undefined) return undefined;
    this.#turnMs = this.#turnMs < next ? next : this.#turnMs + this.#restMs;
    this.#turnMs = Math.min(this.#turnMs, nowMs + restMaxMs);
    return new Date(this.#turnMs);
  }

  /** Work took so long, of which the oldest report had waited for `waitedMs`. */
  worked(tookMs: number, waitedMs: number, nowMs = Date.now()): void {
    if (!this.#isSending()) return;
    const late = Math.min(Math.max(0, waitedMs - patientMs) / (waitMaxMs - patientMs), 1);
    const share = shareMin + (1 - shareMin) * late;
    this.#restMs = tookMs * (1 / share - 1);
    const untilMs = Math.max(this.#restsUntilMs, nowMs) + this.#restMs;
    this.#restsUntilMs = Math.min(untilMs, nowMs + restMaxMs);
  }
}
