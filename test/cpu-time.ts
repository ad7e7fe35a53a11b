/**
 * Milliseconds of CPU that work took in this process: other processes on the machine don't count,
 * as they do by the clock.
 */
export function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user / 1_000;
}
