import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import pg from 'pg';
import { FairQueue } from '../collections/fair-queue.ts';
import { onNudge } from '../jobs/nudges.ts';
import { PeerAway } from '../jobs/reachability.ts';
import { watched } from '../jobs/watched-tasks.ts';
import { Activity } from '../limits/activity.ts';
import type { Log } from '../log.ts';
import { connectionStringOf } from '../postgres/database-url.ts';
import { quietTask, schemaOf } from '../postgres/job-schema.ts';

/**
 * Runs the jobs that deliver events, in place of the library's runner, which takes the oldest
 * first: an import makes hundreds, and everybody's events would wait behind them. Here workspaces
 * take turns. A claim leaves out those that have their share of claimed jobs, and passes over their
 * other jobs by a column of each row. A workspace whose calls take long, since its events have many
 * takers, has one at a time while others have events, and rests as long as each took.
 *
 * Claimed jobs are locked as the library locks them, so that those of a dead process are released
 * with all others.
 */

/** Of a process: to claim, to delete, and for what jobs ask. */
export const eventConnections = 3;
/** Calls that are open at once: of all workspaces, and of one. */
const openMax = 8;
const openOfWorkspaceMax = 5;
/** A call that takes longer is heavy work for its consumer. */
const heavyMs = 100;
const restMaxMs = 1_000;
/** After this time without another heavy call a workspace is one like all others. */
const heavyKeptMs = 10_000;
/** Claimed together, and claimed at once in all. Each may have 4 MiB. */
const groupMax = 10;
const claimedMax = 16;
/** A workspace with this many claimed is left out of the next claim. */
const shareMax = 5;
/**
 * What a busy process adds within this time is claimed together, and what it delivers is deleted
 * together.
 */
const groupMs = 30;
const lookEveryMs = 1_000;

/** What a job of events uses of its runner. */
export type EventHelpers = {
  job: { attempts: number };
  withPgClient: <Result>(use: (client: PoolClient) => Promise<Result>) => Promise<Result>;
};

export type EventTask = (payload: unknown, helpers: EventHelpers) => Promise<void>;

type Claimed = { id: string; attempts: number; payload: { workspaceId: string } };

type Options = { url: string; service: string; task: EventTask; log: Log };

export function runEventJobs(options: Options): { stop(): Promise<void> } {
  return new EventRunner(options);
}

class EventRunner {
  readonly #task: EventTask;
  readonly #log: Log;
  readonly #jobs: string;
  readonly #service: string;
  readonly #pool: pg.Pool;
  readonly #workerId = `events-${crypto.randomUUID()}`;
  /** Claimed, and no call begun. */
  readonly #waiting = new FairQueue<Claimed>();
  readonly #claimed = new Map<string, number>();
  readonly #open = new Map<string, number>();
  readonly #calls = new Set<Promise<void>>();
  readonly #activity = new Activity();
  /**
   * Workspaces whose last call was heavy, and until when each rests, in milliseconds of this
   * process.
   */
  readonly #heavy = new Map<string, number>();
  #claimedCount = 0;
  /** Whether there may be a job that can be claimed. */
  #hasMore = true;
  #claiming: Promise<void> | undefined;
  #pause: NodeJS.Timeout | undefined;
  #done: string[] = [];
  #deleting: Promise<void> | undefined;
  #isStopped = false;
  readonly #lookTimer: NodeJS.Timeout;
  readonly #endHearing: () => void;

  constructor({ url, service, task, log }: Options) {
    this.#task = watched(quietTask, task);
    this.#log = log;
    this.#service = service;
    this.#jobs = `${schemaOf(service)}._private_jobs`;
    this.#pool = new pg.Pool({ connectionString: connectionStringOf(url), max: eventConnections });
    this.#pool.on('error', (err) => log.warn({ err }, 'the runner of events lost a connection'));
    this.#lookTimer = setInterval(() => this.#look(), lookEveryMs);
    this.#endHearing = onNudge(service, () => this.#hear());
    this.#look();
  }

  /** Gives back what is claimed and not begun; settles when open calls have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#endHearing();
    clearInterval(this.#lookTimer);
    clearTimeout(this.#pause);
    await this.#claiming;
    await this.#giveBack();
    while (this.#calls.size > 0) await Promise.all(this.#calls);
    await this.#deleting;
    await this.#pool.end();
  }

  /** The first at once, and those of the next milliseconds together after it. */
  #hear(): void {
    this.#hasMore = true;
    if (this.#pause) return;
    this.#claim();
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#claim();
    }, groupMs).unref();
  }

  #look(): void {
    this.#hasMore = true;
    this.#claim();
  }

  #claim(): void {
    const room = Math.min(groupMax, claimedMax - this.#claimedCount);
    if (this.#claiming || this.#isStopped || !this.#hasMore || room === 0) return;
    this.#hasMore = false;
    const leftOut = [...this.#claimed.keys(), ...this.#heavy.keys()].filter(
      (workspaceId) => !this.#mayClaim(workspaceId),
    );
    this.#claiming = this.#read(room, leftOut).then(
      (jobs) => {
        this.#claiming = undefined;
        this.#hasMore ||= jobs.length === room || leftOut.length > 0;
        for (const job of jobs) this.#add(job);
        this.#begin();
        if (jobs.length === room) this.#claim();
      },
      (err) => {
        this.#claiming = undefined;
        this.#log.warn({ err }, 'jobs of events could not be claimed; trying again');
      },
    );
  }

  async #read(room: number, leftOut: readonly string[]): Promise<Claimed[]> {
    const { rows } = await this.#pool.query<Claimed>({
      name: `claim_events/${this.#service}`,
      text: `with due as (
          select id from ${this.#jobs}
          where is_available and run_at <= now()
            and task_id = (select id from ${schemaOf(this.#service)}._private_tasks where identifier = '${quietTask}')
            -- Jobs of version 0.2 name no workspace here.
            and coalesce(flags->>'workspace', '') <> all($1::text[])
          order by priority, run_at
          limit $2
          for update skip locked
        )
        update ${this.#jobs} job set attempts = job.attempts + 1, locked_by = $3, locked_at = now()
        from due where job.id = due.id
        returning job.id, job.attempts, job.payload`,
      values: [leftOut, room, this.#workerId],
    });
    return rows;
  }

  #add(job: Claimed): void {
    const { workspaceId } = job.payload;
    this.#claimedCount += 1;
    this.#activity.note(workspaceId);
    count(this.#claimed, workspaceId, 1);
    this.#waiting.add(workspaceId, job);
  }

  #begin(): void {
    while (this.#calls.size < openMax && !this.#isStopped) {
      const next = this.#waiting.take((workspaceId) => this.#mayOpen(workspaceId));
      if (!next) return;
      const call = this.#run(next.tenant, next.item).finally(() => this.#calls.delete(call));
      this.#calls.add(call);
    }
  }

  /** A claimed job that has to wait would keep a place from the others. */
  #mayClaim(workspaceId: string): boolean {
    const claimed = this.#claimed.get(workspaceId) ?? 0;
    const restsUntilMs = this.#heavy.get(workspaceId);
    if (restsUntilMs === undefined || this.#activity.isAlone(workspaceId))
      return claimed < shareMax;
    return claimed === 0 && performance.now() >= restsUntilMs;
  }

  #mayOpen(workspaceId: string): boolean {
    const open = this.#open.get(workspaceId) ?? 0;
    const restsUntilMs = this.#heavy.get(workspaceId);
    if (restsUntilMs === undefined || this.#activity.isAlone(workspaceId)) {
      return open < openOfWorkspaceMax;
    }
    return open === 0 && performance.now() >= restsUntilMs;
  }

  #noteTime(workspaceId: string, tookMs: number): void {
    if (tookMs <= heavyMs) {
      this.#heavy.delete(workspaceId);
      return;
    }
    const restMs = Math.min(tookMs, restMaxMs);
    const restsUntilMs = performance.now() + restMs;
    this.#heavy.set(workspaceId, restsUntilMs);
    setTimeout(() => {
      this.#begin();
      this.#claim();
    }, restMs + 1).unref();
    setTimeout(() => {
      if (this.#heavy.get(workspaceId) === restsUntilMs) this.#heavy.delete(workspaceId);
    }, heavyKeptMs).unref();
  }

  async #run(workspaceId: string, { id, attempts, payload }: Claimed): Promise<void> {
    count(this.#open, workspaceId, 1);
    const beganAtMs = performance.now();
    try {
      await this.#task(payload, { job: { attempts }, withPgClient: (use) => this.#with(use) });
      this.#delete(id);
    } catch (error) {
      await this.#fail(id, error);
    }
    count(this.#open, workspaceId, -1);
    this.#forget(workspaceId);
    this.#noteTime(workspaceId, performance.now() - beganAtMs);
    // After this call has left its place.
    setImmediate(() => {
      this.#begin();
      // A claim for each call that ends would be a small one.
      if (this.#claimedCount <= claimedMax - groupMax) this.#claim();
    });
  }

  #forget(workspaceId: string): void {
    this.#claimedCount -= 1;
    count(this.#claimed, workspaceId, -1);
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
      if (!this.#isStopped) await sleep(groupMs);
      const ids = this.#done;
      this.#done = [];
      const text = `delete from ${this.#jobs} where id = any($1::bigint[])`;
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

  async #giveBack(): Promise<void> {
    const ids: string[] = [];
    for (let next = this.#waiting.take(); next; next = this.#waiting.take()) {
      ids.push(next.item.id);
      this.#forget(next.tenant);
    }
    if (ids.length === 0) return;
    const text = `update ${this.#jobs} set attempts = attempts - 1, locked_by = null, locked_at = null
      where id = any($1::bigint[]) and locked_by = $2`;
    await this.#pool
      .query(text, [ids, this.#workerId])
      .catch((err) => this.#log.warn({ err }, 'jobs of events could not be given back'));
  }
}

function count(counts: Map<string, number>, name: string, by: number): void {
  const next = (counts.get(name) ?? 0) + by;
  if (next === 0) counts.delete(name);
  else counts.set(name, next);
}
