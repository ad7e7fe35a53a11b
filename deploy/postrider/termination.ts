import type { Log } from '#lib/log.ts';

/** Calls get ten seconds to end, a mail server twenty to answer, and outcomes five to be written. */
const terminationMaxMs = 38_000;

/** Shuts the process down in order at SIGTERM or SIGINT, once. `delayMs` is what it serves on before that. */
export function onTermination(log: Log, delayMs: number, end: () => Promise<void>): void {
  let ending = false;
  const terminate = () => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), delayMs + terminationMaxMs).unref();
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
