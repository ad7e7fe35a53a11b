const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Of a process that was interrupted twice, as shells give it. */
const interruptedCode = 130;

/** Aborted by the first signal that ends a process; the second one ends it at once. */
export function untilInterrupted(): { signal: AbortSignal; release: () => void } {
  const stop = new AbortController();
  const end = () => {
    if (stop.signal.aborted) process.exit(interruptedCode);
    stop.abort();
  };
  for (const name of signals) process.on(name, end);
  const release = () => {
    for (const name of signals) process.off(name, end);
  };
  return { signal: stop.signal, release };
}
