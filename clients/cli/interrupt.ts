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

/**
 * Has a text said before a signal ends the process, which it does as without this: a shell's loop
 * ends with it. Returns the end of that.
 */
export function tellOnInterrupt(tell: () => void): () => void {
  const release = () => {
    for (const name of signals) process.off(name, end);
  };
  const end = (name: NodeJS.Signals) => {
    release();
    tell();
    process.kill(process.pid, name);
  };
  for (const name of signals) process.on(name, end);
  return release;
}
