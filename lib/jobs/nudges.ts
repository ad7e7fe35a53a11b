type Nudge = (jobs: number) => void;

const runners = new Map<string, Set<Nudge>>();

/**
 * Has a runner of this process hear of jobs that this process added; ends with the function that it
 * answers.
 */
export function onNudge(service: string, nudge: Nudge): () => void {
  const known = runners.get(service) ?? new Set();
  runners.set(service, known.add(nudge));
  return () => known.delete(nudge);
}

/**
 * Tells the service's runners in this process of jobs that are committed. If there are none,
 * runners elsewhere find them within a second.
 */
export function nudgeRunners(service: string, jobs: number): void {
  for (const nudge of runners.get(service) ?? []) nudge(jobs);
}
