import { Code, ConnectError } from '@connectrpc/connect';
import type { Task } from 'graphile-worker';
import type { PoolClient } from 'pg';
import { schemaOf } from '../postgres/job-schema.ts';
import { nudgeRunners } from './nudges.ts';

/**
 * Jobs that call another service. While it does not answer, one call every few seconds tries, and
 * the other jobs fail without a call and back off to minutes. A job of `recheckPeer` brings the
 * next call forward. The first success of a job that had failed brings forward all that wait for
 * the same service, in steps; the runner's places bound how many run at once.
 */

export const recheckTask = 'recheckPeer';
const recheckEveryMs = 3_000;
/** Shorter than the time between rechecks, so that these always call. */
const refusedMs = 2_000;
const stepSize = 1_000;

const awayCodes: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.DeadlineExceeded,
  Code.ResourceExhausted,
  Code.Canceled,
]);

/** A job of which no call was made, since the service did not answer another one. */
export class PeerAway extends Error {}

/** In `last_error`, at its beginning: the jobs that wait for a service are found by it. */
export const awayText = (peer: string) => `${peer} does not answer`;

type Peer = { answeredAtMs: number; refusedUntilMs: number; broughtForwardAtMs: number };

/** The last answers and failures that this process has seen of each service. */
const peers = new Map<string, Peer>();

function peerOf(key: string): Peer {
  const known = peers.get(key) ?? {
    ...{ answeredAtMs: -Infinity, refusedUntilMs: 0, broughtForwardAtMs: -Infinity },
  };
  peers.set(key, known);
  return known;
}

/** The part of the runner that these jobs use. */
type Helpers = {
  withPgClient: <Result>(use: (client: PoolClient) => Promise<Result>) => Promise<Result>;
};

type CallHelpers = Helpers & { job: { attempts: number } };

/** Whether calls for jobs are not made, since the service did not answer one a moment ago. */
export function isAwayNow({ service, peer }: { service: string; peer: string }): boolean {
  return performance.now() < peerOf(`${service} ${peer}`).refusedUntilMs;
}

/** Calls a service for a job of another. */
export async function callPeer<Answer>(
  { service, peer, helpers }: { service: string; peer: string; helpers: CallHelpers },
  call: () => Promise<Answer>,
): Promise<Answer> {
  const state = peerOf(`${service} ${peer}`);
  const startedAtMs = performance.now();
  if (startedAtMs < state.refusedUntilMs) throw new PeerAway(awayText(peer));
  let answer: Answer;
  try {
    answer = await call();
  } catch (error) {
    // A call that fails while others succeed is at fault itself.
    if (!isAway(error) || state.answeredAtMs >= startedAtMs) throw error;
    state.refusedUntilMs = performance.now() + refusedMs;
    await addRecheck(helpers, { service, peer });
    throw new Error(`${awayText(peer)}: ${ConnectError.from(error).message}`, { cause: error });
  }
  const nowMs = performance.now();
  state.answeredAtMs = nowMs;
  state.refusedUntilMs = 0;
  const isFirst = helpers.job.attempts === 1;
  if (isFirst || nowMs < state.broughtForwardAtMs + refusedMs) return answer;
  state.broughtForwardAtMs = nowMs;
  while ((await bringForward(helpers, { service, peer, jobsMax: stepSize })) === stepSize);
  return answer;
}

function isAway(error: unknown): boolean {
  return error instanceof ConnectError && awayCodes.has(error.code);
}

async function addRecheck(
  helpers: Helpers,
  { service, peer }: { service: string; peer: string },
): Promise<void> {
  await helpers.withPgClient((client) =>
    client.query(
      `select ${schemaOf(service)}.add_job(identifier := '${recheckTask}', payload := $1::json, job_key := $2,
         job_key_mode := 'preserve_run_at', run_at := now() + interval '${recheckEveryMs} milliseconds')`,
      [JSON.stringify({ peer }), `${recheckTask} ${peer}`],
    ),
  );
}

/**
 * The task that brings forward one job that waits for a service, and comes again while any waits.
 */
export function recheckPeer(service: string): Task {
  return async (payload, helpers) => {
    const { peer } = payload as { peer: string };
    const jobs = await bringForward(helpers, { service, peer, jobsMax: 1 });
    if (jobs > 0) await addRecheck(helpers, { service, peer });
  };
}

/** Jobs that failed least often come first: the others may be at fault themselves. */
async function bringForward(
  helpers: Helpers,
  { service, peer, jobsMax }: { service: string; peer: string; jobsMax: number },
): Promise<number> {
  const jobs = `${schemaOf(service)}._private_jobs`;
  const count = await helpers.withPgClient(async (client) => {
    const { rowCount } = await client.query(
      `update ${jobs} set run_at = now() where id = any(array(
         select id from ${jobs}
         where is_available and run_at > now() and last_error like $1
         order by attempts, run_at limit ${jobsMax} for update skip locked
       ))`,
      [`${awayText(peer)}%`],
    );
    return rowCount ?? 0;
  });
  if (count > 0) nudgeRunners(service, count);
  return count;
}
