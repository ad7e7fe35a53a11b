import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { onNudge } from '../jobs/nudges.ts';
import { PeerAway } from '../jobs/reachability.ts';
import { watched } from '../jobs/watched-tasks.ts';
import type { Log } from '../log.ts';
import { openJobPool } from '../postgres/job-pool.ts';
import { quietTask, schemaOf } from '../postgres/job-schema.ts';
import {
  type Delivered,
  type EventCall,
  type EventJob,
  type EventTask,
  EventTurns,
  largeOfWorkspaceMax,
  unitsOfLarge,
} from './event-turns.ts';
import { onNewJobs } from './handover.ts';

/**
 * Runs the jobs that deliver events, in place of the library's runner, which takes the oldest
 * first: an import makes hundreds, and everybody's events would wait behind them. Here workspaces
 * take turns (`event-turns.ts`). A claim leaves out those that have their share of claimed jobs,
 * and passes over their other jobs by a column of each row.
 *
 * Small jobs of the same process come without a claim while nothing else waits (`handover.ts`).
 * Others are claimed at once; those that come while a claim is made, or right after it, are claimed
 * together. Claimed jobs are locked as the library locks them, so that those of a dead process are
 * released with all others.
 */

/** Of a process: to claim, to delete, and for what jobs ask. */
export const eventConnections = 3;
/** Between the beginnings of two claims, unless the first has left something. */
const claimGapMs = 3;
/** Jobs that are delivered within this time are deleted together. */
const deleteGroupMs = 30;
const lookEveryMs = 1_000;

/**
 * SQL, true, that has the commit of its statement not wait for the disk: a claim or a deletion that
 * PostgreSQL loses in a crash has a batch come twice, which its consumer knows.
 */
const notAwaited = `(select set_config('synchronous_commit', 'off', true)) = 'off'`;

type ClaimedRow = Omit<EventJob, 'isSmall'> & {
  flags: { small?: boolean } | null;
  /** Rows that the claim has seen, with room or not. */
  found: number;
};

type Options = { url: string; service: string; task: EventTask; log: Log };

export function runEventJobs(options: Options): { stop(): Promise<void> } {
  return new EventRunner(options);
}

class EventRunner {
  readonly #task: EventTask;
  readonly #log: Log;
  readonly #jobs: string;
  readonly #service: string;
  readonly #pool: Pool;
  readonly #workerId = `events-${crypto.randomUUID()}`;
  readonly #turns = new EventTurns(() => {
    this.#begin();
    this.#claim();
  });
  readonly #calls = new Set<Promise<void>>();
  /** Whether there may be a job that can be claimed. */
  #hasMore = true;
  /** Whether jobs were added since the last claim began. */
  #hasHeard = false;
  /** Whether the last claim found more large jobs than it had room for. */
  #findsLarge = false;
  #claiming: Promise<void> | undefined;
  /** Runs while no claim may begin that follows from a nudge. */
  #gap: NodeJS.Timeout | undefined;
  #done: string[] = [];
  #deleting: Promise<void> | undefined;
  #isStopped = false;
  readonly #lookTimer: NodeJS.Timeout;
  readonly #endHearing: () => void;

  constructor({ url, service, task, log }: Options) {
    this.#task = task;
    this.#log = log;
    this.#service = service;
    this.#jobs = `${schemaOf(service)}._private_jobs`;
    this.#pool = openJobPool({ url, service, connectionsMax: eventConnections, log });
    this.#lookTimer = setInterval(() => this.#look(), lookEveryMs);
    const endNudges = onNudge(service, () => this.#hear());
    const endNew = onNewJobs(service, {
      workerId: this.#workerId,
      // Jobs that may be in the table are older.
      mayTake: (workspaceId) =>
        !this.#hasMore && !this.#claiming && this.#turns.hasRoomFor(workspaceId),
      take: (jobs) => this.#take(jobs),
    });
    this.#endHearing = () => {
      endNudges();
      endNew();
    };
    this.#look();
  }

  /** Gives back what is claimed and not begun; settles when open calls have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#endHearing();
    clearInterval(this.#lookTimer);
    clearTimeout(this.#gap);
    await this.#claiming;
    await this.#giveBack();
    while (this.#calls.size > 0) await Promise.all(this.#calls);
    await this.#deleting;
    await this.#pool.end();
  }

  #take(jobs: readonly EventJob[]): void {
    for (const job of jobs) this.#turns.add(job);
    // After the others of the same commit.
    queueMicrotask(() => {
      if (this.#isStopped) void this.#giveBack();
      else this.#begin();
    });
  }

  #hear(): void {
    this.#hasMore = true;
    this.#hasHeard = true;
    if (!this.#gap) this.#claim();
  }

  #look(): void {
    this.#hasMore = true;
    this.#claim();
  }

  #claim(): void {
    const { room, leftOut } = this.#turns;
    if (this.#claiming || this.#isStopped || !this.#hasMore || room <= 0) return;
    this.#hasMore = false;
    this.#hasHeard = false;
    this.#waitForMore();
    this.#claiming = this.#read(room, leftOut).then(
      ({ jobs, isCut }) => {
        this.#claiming = undefined;
        this.#hasMore ||= isCut || leftOut.length > 0;
        for (const job of jobs) this.#turns.add(job);
        this.#begin();
        if (isCut || (this.#hasHeard && !this.#gap)) this.#claim();
      },
      (err) => {
        this.#claiming = undefined;
        this.#hasMore = true;
        this.#log.warn({ err }, 'jobs of events could not be claimed; trying again');
      },
    );
  }

  #waitForMore(): void {
    this.#gap ??= setTimeout(() => {
      this.#gap = undefined;
      if (this.#hasHeard) this.#claim();
    }, claimGapMs).unref();
  }

  async #read(
    room: number,
    leftOut: readonly string[],
  ): Promise<{ jobs: EventJob[]; isCut: boolean }> {
    // Rows that find no room are locked for nothing.
    const rowsMax = this.#findsLarge ? Math.ceil(room / unitsOfLarge) : room;
    const { rows } = await this.#pool.query<ClaimedRow>({
      name: `claim_events/${this.#service}`,
      text: `with candidate as (
          select id, priority, run_at, flags->>'workspace' as workspace,
            case when (flags->>'small')::boolean and attempts = 0 then 1 else ${unitsOfLarge} end as units
          from ${this.#jobs}
          where is_available and run_at <= now() and ${notAwaited}
            and task_id = (select id from ${schemaOf(this.#service)}._private_tasks where identifier = '${quietTask}')
            -- Jobs of version 0.2 name no workspace here, and none is small.
            and coalesce(flags->>'workspace', '') <> all($1::text[])
          order by priority, run_at
          limit $2
          for update skip locked
        ), due as (
          select id from (
            select id, units,
              sum(units) over (order by priority, run_at, id rows unbounded preceding) - units as before,
              row_number() over (partition by workspace, units order by priority, run_at, id) as own
            from candidate
          ) each
          where before < $4 and (units = 1 or own <= ${largeOfWorkspaceMax})
        )
        update ${this.#jobs} job set attempts = job.attempts + 1, locked_by = $3, locked_at = now()
        from due where job.id = due.id
        returning job.id, job.attempts, job.payload, job.flags, (select count(*)::int from candidate) as found`,
      values: [leftOut, rowsMax, this.#workerId, room],
    });
    const found = rows[0]?.found ?? 0;
    this.#findsLarge = rows.length < found;
    // In the order in which they were added.
    const jobs = rows
      .map(({ flags, found: _, ...job }) => ({ ...job, isSmall: flags?.small === true }))
      .toSorted((a, b) => Number(a.id) - Number(b.id));
    return { jobs, isCut: found === rowsMax || rows.length < found };
  }

  #begin(): void {
    while (!this.#isStopped) {
      const next = this.#turns.next();
      if (!next) return;
      const call = this.#run(next).finally(() => this.#calls.delete(call));
      this.#calls.add(call);
    }
  }

  /** Each job is measured, and is in the trace of its change; the call is in that of the first. */
  async #run(call: EventCall): Promise<void> {
    const startedAtMs = performance.now();
    const [{ attempts } = { attempts: 1 }] = call.jobs;
    let calling: Promise<readonly Delivered[]> | undefined;
    const deliver = () => {
      const payloads = call.jobs.map(({ payload }) => payload);
      return this.#task(payloads, { job: { attempts }, withPgClient: (use) => this.#with(use) });
    };
    const results = call.jobs.map(({ id, payload }, place) => {
      let result: Delivered = {};
      return watched(quietTask, async () => {
        calling ??= deliver();
        result = (await calling)[place] ?? { error: new Error('a batch has no outcome') };
        if (result.error && !result.isAlone) throw result.error;
      })(payload, undefined).then(
        () => {
          if (!result.isAlone) this.#delete(id);
          return result;
        },
        async (error): Promise<Delivered> => {
          await this.#fail(id, error);
          const { tookMs = error instanceof PeerAway ? 0 : undefined } = result;
          return { error, tookMs };
        },
      );
    });
    const delivered = await Promise.all(results);
    await this.#repeatAlone(call.jobs.filter((_, place) => delivered[place]?.isAlone));
    this.#turns.ended(call, delivered, performance.now() - startedAtMs);
    // After this call has left its place.
    setImmediate(() => {
      this.#begin();
      if (this.#turns.hasRoomForAll) this.#claim();
    });
  }

  async #with<Result>(use: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect();
    try {
      return await use(client);
    } finally {
      client.release();
    }
  }

  /** Its row is deleted with those that are done within the next milliseconds. */
  #delete(id: string): void {
    this.#done.push(id);
    this.#deleting ??= this.#deleteDone().finally(() => {
      this.#deleting = undefined;
    });
  }

  /** A job whose row stays is released after two minutes, and its consumer knows its batch. */
  async #deleteDone(): Promise<void> {
    while (this.#done.length > 0) {
      if (!this.#isStopped) await sleep(deleteGroupMs);
      const ids = this.#done;
      this.#done = [];
      const text = `delete from ${this.#jobs} where id = any($1::bigint[]) and ${notAwaited}`;
      const values = [ids];
      await this.#pool
        .query({ name: `delete_events/${this.#service}`, text, values })
        .catch((err) => this.#log.warn({ err }, 'jobs of events could not be deleted'));
    }
  }

  /** Waits as long as the library's jobs do. */
  async #fail(id: string, error: unknown): Promise<void> {
    const message = error instanceof Error ? error.message : String(error);
    // The call that found it was logged; thousands of jobs may wait for the same service.
    if (!(error instanceof PeerAway)) {
      const job = `Failed task ${id} (${quietTask}): ${message}`.slice(0, 300);
      this.#log.warn({ job }, 'job runner');
    }
    const text = `update ${this.#jobs} set last_error = $2, locked_by = null, locked_at = null,
        run_at = greatest(now(), run_at) + exp(least(attempts, 10)) * interval '1 second'
      where id = $1 and locked_by = $3`;
    await this.#pool
      .query(text, [id, message, this.#workerId])
      .catch((err) => this.#log.warn({ err }, 'a job of events could not be put back'));
  }

  /** The next claim takes them as jobs that have a call each, since they had an attempt. */
  async #repeatAlone(jobs: readonly EventJob[]): Promise<void> {
    if (jobs.length === 0) return;
    await this.#release(jobs, 0);
    this.#hasMore = true;
  }

  async #giveBack(): Promise<void> {
    await this.#release(this.#turns.giveBack(), 1);
  }

  /** `unused` attempts are not counted. */
  async #release(jobs: readonly EventJob[], unused: 0 | 1): Promise<void> {
    const ids = jobs.map(({ id }) => id);
    if (ids.length === 0) return;
    const text = `update ${this.#jobs} set attempts = attempts - ${unused}, locked_by = null, locked_at = null
      where id = any($1::bigint[]) and locked_by = $2`;
    await this.#pool
      .query(text, [ids, this.#workerId])
      .catch((err) => this.#log.warn({ err }, 'jobs of events could not be given back'));
  }
}
