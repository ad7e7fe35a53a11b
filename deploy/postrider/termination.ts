import type { Log } from '#lib/log.ts';

/**
 * Calls get ten seconds to end, a mail server twenty to answer, and outcomes five to be written.
 */
const terminationMaxMs = 38_000;

type Termination = {
  /** Time for which the process goes on serving before it shuts down. */
  delayMs: number;
  end(): Promise<void>;
  /** Parts that have not ended yet, for the log. */
  running(): readonly string[];
};

/** Shuts the process down in order at SIGTERM or SIGINT, once. */
export function onTermination(log: Log, { delayMs, end, running }: Termination): void {
  let ending = false;
  const giveUp = () => {
    log.error({ running: running() }, 'shutdown took too long');
    process.exit(1);
  };
  const terminate = () => {
    if (ending) return;
    ending = true;
    setTimeout(giveUp, delayMs + terminationMaxMs).unref();
    end().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'shutdown failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', terminate);
  process.on('SIGINT', terminate);
}
