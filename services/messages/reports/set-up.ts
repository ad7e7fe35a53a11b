import { setTimeout as sleep } from 'node:timers/promises';
import { addJob } from '#lib/jobs/jobs.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { type Registration, type ReportPlace, readRegistration } from './keys.ts';

/**
 * Has a job set the provider of an integration up, or ask it to report no more, as its row says. A
 * job that waits is replaced; those of one integration run one after the other.
 */
export function addSetUp(em: EntityManager, place: ReportPlace, runAt?: Date): Promise<void> {
  const name = `setUpReports ${place.workspaceId} ${place.integrationId}`;
  const job = { task: 'setUpReports', payload: place, key: name, queue: name };
  return addJob(em, 'messages', runAt ? { ...job, runAt } : job);
}

/** Most providers answer within a second. */
const waitMaxMs = 5_000;
const lookEveryMs = 100;

/**
 * The registration once its provider is set up or has refused it, or after a few seconds;
 * undefined if it is gone meanwhile.
 */
export async function awaitSetUp(
  store: Store,
  place: ReportPlace,
): Promise<Registration | undefined> {
  const untilMs = performance.now() + waitMaxMs;
  for (;;) {
    const registration = await readRegistration(store.fork(), place);
    const isOpen = registration?.state === 'pending' && registration.error === null;
    if (!isOpen || performance.now() > untilMs) return registration;
    await sleep(lookEveryMs);
  }
}
