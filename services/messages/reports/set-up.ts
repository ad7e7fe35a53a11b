import { setTimeout as sleep } from 'node:timers/promises';
import { addJob } from '#lib/jobs/jobs.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import {
  openRegistration,
  type Registration,
  type RegistrationState,
  type ReportPlace,
  readRegistration,
  type SealedRegistration,
  sealRegistration,
} from './keys.ts';
import type { ReportType } from './report.ts';

/**
 * Has a job set the provider of an integration up, or ask it to report no more, as its row says. A
 * job that waits is replaced. Jobs of a workspace run one after the other, so that its slow
 * providers leave the places of the runner to other workspaces.
 */
export function addSetUp(em: EntityManager, place: ReportPlace, runAt?: Date): Promise<void> {
  const queue = `setUpReports ${place.workspaceId}`;
  const key = `${queue} ${place.integrationId}`;
  const job = { task: 'setUpReports', payload: place, key, queue };
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

/** A registration whose provider is to be set up, or to be asked to report no more. */
export type OpenRegistration = SealedRegistration & {
  state: RegistrationState;
  types: ReportType[];
  revision: number;
  attempts: number;
};

/** Undefined where there is nothing to do. */
export async function readOpen(
  em: EntityManager,
  keyring: Keyring,
  place: ReportPlace,
): Promise<OpenRegistration | undefined> {
  const [row] = await query<Omit<OpenRegistration, 'key' | 'learned'> & { sealed: Buffer | null }>(
    em,
    `select state, types, revision, attempts, sealed from report_keys
     where workspace_id = $1 and integration_id = $2 and state <> 'active'`,
    [place.workspaceId, place.integrationId],
  );
  if (!row?.sealed) return undefined;
  const { sealed, ...rest } = row;
  return { ...rest, ...openRegistration(keyring, place, sealed) };
}

/**
 * Stores what the provider has answered beside what it has answered before, and the settings that
 * it is set up with.
 */
export async function learn(
  store: Store,
  keyring: Keyring,
  {
    place,
    learned,
    ...settings
  }: { place: ReportPlace } & Partial<Omit<SealedRegistration, 'key'>>,
): Promise<void> {
  const { workspaceId, integrationId } = place;
  await store.fork().transactional(async (em) => {
    const [row] = await query<{ sealed: Buffer | null }>(
      em,
      'select sealed from report_keys where workspace_id = $1 and integration_id = $2 for update',
      [workspaceId, integrationId],
    );
    if (!row?.sealed) return;
    const before = openRegistration(keyring, place, row.sealed);
    const sealed = sealRegistration(keyring, place, {
      ...{ ...before, ...settings },
      learned: { ...before.learned, ...learned },
    });
    await query(
      em,
      'update report_keys set sealed = $3 where workspace_id = $1 and integration_id = $2',
      [workspaceId, integrationId, sealed],
    );
  });
}

/** The provider is as the row says: the row is active, or gone. */
export async function settleRegistration(
  em: EntityManager,
  { workspaceId, integrationId }: ReportPlace,
  { state, revision }: OpenRegistration,
): Promise<void> {
  const statement =
    state === 'removing'
      ? 'delete from report_keys'
      : `update report_keys set state = 'active', attempts = 0, error = null`;
  await query(
    em,
    `${statement} where workspace_id = $1 and integration_id = $2 and revision = $3`,
    [workspaceId, integrationId, revision],
  );
}

/** Whether it is still to be tried again, and not another revision of it. */
export async function postponeRegistration(
  em: EntityManager,
  { workspaceId, integrationId }: ReportPlace,
  { revision, error }: { revision: number; error: string },
): Promise<boolean> {
  const kept = await query(
    em,
    `update report_keys set attempts = attempts + 1, error = $4
     where workspace_id = $1 and integration_id = $2 and revision = $3 returning 1`,
    [workspaceId, integrationId, revision, error],
  );
  return kept.length > 0;
}
