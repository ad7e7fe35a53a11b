import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Client, Code, type ConnectError } from '@connectrpc/connect';
import type { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { createCache } from '#lib/cache.ts';
import { retryLater } from '#lib/errors/errors.ts';
import { withReason } from '#lib/errors/reasons.ts';
import type { Log } from '#lib/log.ts';
import type { Store } from '#lib/postgres/store.ts';
import { LruMap } from '../collections/lru-map.ts';
import { quotaDefault, type Resource, resources, retryMsOf } from './resources.ts';

export type QuotaDirectory = Pick<
  Client<typeof WorkspaceDirectoryService>,
  'getQuotas' | 'reportQuotaUse'
>;

export type QuotaContext = {
  store: Pick<Store, 'read'>;
  workspaces: QuotaDirectory;
  log: Pick<Log, 'warn'>;
  /** By resource, SQL that selects `used` of the workspace $1. */
  counts: Partial<Record<Resource, string>>;
};

const countsKeptMax = 20_000;
const workspacesMax = 10_000;
/** How long a workspace's quotas are kept. */
const quotasKeptMs = 60_000;
const callMaxMs = 2_000;
/** Counts at once in a process, so that they leave connections for calls; one of each workspace. */
const countingMax = 2;
/**
 * A count is repeated after this many times what it took: the counts of a resource take at most
 * half a percent of the time.
 */
const restFactor = 200;
const restMinMs = 10_000;
/** At the quota it is repeated sooner, so that freed room is noticed. */
const fullRestFactor = 20;
const fullRestMinMs = 1_000;
const reportedPart = 0.8;
const reportEveryMs = 3_600_000;
const usageWaitMs = 3_000;
const placePollMs = 50;

type Count = {
  used: number;
  quota: number;
  /** 0 before the first count. */
  countedAtMs: number;
  triedAtMs: number;
  tookMs: number;
  /** Added by this process since then. */
  added: number;
  reportedAtMs: number;
  counting: Promise<boolean> | undefined;
};

type QuotasOfWorkspace = Partial<Record<string, bigint>>;

/**
 * Counts what workspaces have of a service's resources, for calls that add some. A call asks the
 * last count, which is at least 10 seconds apart from the next, and never waits: so a workspace can
 * go beyond a quota by what other processes add in the meantime.
 */
export class Quotas {
  readonly #context: QuotaContext;
  readonly #counts = new LruMap<Count>({ max: countsKeptMax });
  readonly #quotas = createCache<QuotasOfWorkspace>({
    entriesMax: workspacesMax,
    keepMs: quotasKeptMs,
  });
  /** As they were read last, for when workspaces does not answer. */
  readonly #lastQuotas = new LruMap<QuotasOfWorkspace>({ max: workspacesMax });
  /** Away from the calls that ask: their connections end with them. */
  readonly #outside = AsyncLocalStorage.snapshot();
  readonly #counting = new Set<string>();

  constructor(context: QuotaContext) {
    this.#context = context;
  }

  /** How much may be added. All of the quota as long as nothing was counted. */
  room(workspaceId: string, resource: Resource): number {
    const count = this.#countOf(workspaceId, resource);
    const room = count.quota - count.used - count.added;
    const [factor, least] = room > 0 ? [restFactor, restMinMs] : [fullRestFactor, fullRestMinMs];
    const restMs = Math.max(least, factor * count.tookMs);
    if (Date.now() - count.triedAtMs >= restMs) void this.#count(workspaceId, resource, count);
    return Math.max(0, room);
  }

  /** Throws QUOTA_EXCEEDED where nothing may be added. */
  requireRoom(workspaceId: string, resource: Resource): void {
    if (this.room(workspaceId, resource) > 0) return;
    const { used, added, quota } = this.#countOf(workspaceId, resource);
    throw quotaExceeded(resource, { used: used + added, quota });
  }

  /** Notes what was added. */
  grew(workspaceId: string, resource: Resource, by: number): void {
    if (by > 0) this.#countOf(workspaceId, resource).added += by;
  }

  /**
   * The quota of a resource that the caller counts itself; the default as long as it cannot be
   * read.
   */
  async quotaOf(workspaceId: string, resource: Resource): Promise<number> {
    try {
      return await this.readQuota(workspaceId, resource);
    } catch (err) {
      this.#context.log.warn({ err, workspaceId }, 'quotas cannot be read; the default counts');
      return quotaDefault(resource);
    }
  }

  /** The same for a caller that deletes what is beyond it: throws where it was never read. */
  async readQuota(workspaceId: string, resource: Resource): Promise<number> {
    const { workspaces } = this.#context;
    const read = async () => {
      const { quotas } = await workspaces.getQuotas({ workspaceId }, { timeoutMs: callMaxMs });
      this.#lastQuotas.set(workspaceId, quotas);
      return quotas;
    };
    const quotas = await this.#quotas(workspaceId, read).catch((error) => {
      const last = this.#lastQuotas.get(workspaceId);
      if (!last) throw error;
      return last;
    });
    return Number(quotas[resource] ?? quotaDefault(resource));
  }

  /**
   * Counts now: how much there is, and the quota. Throws where that is not possible, so that
   * nothing is deleted by an old count.
   */
  async countNow(workspaceId: string, resource: Resource): Promise<Pick<Count, 'used' | 'quota'>> {
    const count = this.#countOf(workspaceId, resource);
    const isCounted = await this.#count(workspaceId, resource, count);
    if (!isCounted || !this.#lastQuotas.has(workspaceId)) {
      throw new Error(`${resource} was not counted`);
    }
    return count;
  }

  /**
   * The workspace's use of each resource of this service. Waits a few seconds for counts; the last
   * ones serve after that.
   */
  async usage(workspaceId: string) {
    const names = Object.keys(this.#context.counts) as Resource[];
    const all = names.map((resource) => ({
      resource,
      count: this.#countOf(workspaceId, resource),
    }));
    const endsAtMs = Date.now() + usageWaitMs;
    const refresh = async () => {
      for (const { resource, count } of all) {
        const restMs = Math.max(fullRestMinMs, fullRestFactor * count.tookMs);
        if (Date.now() - count.triedAtMs < restMs) continue;
        while (!this.#hasPlace(workspaceId) && Date.now() < endsAtMs) await sleep(placePollMs);
        await this.#count(workspaceId, resource, count);
      }
    };
    await Promise.race([refresh(), sleep(usageWaitMs, undefined, { ref: false })]);
    const counted = all.filter(({ count }) => count.countedAtMs > 0);
    return counted.map(({ resource, count: { used, added, countedAtMs } }) => ({
      resource,
      used: BigInt(used + added),
      countedAt: timestampFromMs(countedAtMs),
    }));
  }

  #countOf(workspaceId: string, resource: Resource): Count {
    const key = `${workspaceId} ${resource}`;
    const known = this.#counts.get(key);
    if (known) return known;
    const quota = quotaDefault(resource);
    const times = { countedAtMs: 0, triedAtMs: 0, tookMs: 0, reportedAtMs: 0 };
    const count: Count = { used: 0, quota, added: 0, ...times, counting: undefined };
    this.#counts.set(key, count);
    return count;
  }

  #hasPlace(workspaceId: string): boolean {
    return this.#counting.size < countingMax && !this.#counting.has(workspaceId);
  }

  /** Counts, unless it is counted already or too many are; whether it did. Never throws. */
  async #count(workspaceId: string, resource: Resource, count: Count): Promise<boolean> {
    if (count.counting) return count.counting;
    const sql = this.#context.counts[resource];
    if (!this.#hasPlace(workspaceId) || !sql) return false;
    this.#counting.add(workspaceId);
    const reading = this.#outside(() => this.#read(workspaceId, resource, { count, sql }));
    count.counting = reading.finally(() => {
      this.#counting.delete(workspaceId);
      count.counting = undefined;
    });
    return count.counting;
  }

  async #read(
    workspaceId: string,
    resource: Resource,
    { count, sql }: { count: Count; sql: string },
  ): Promise<boolean> {
    const { store, log } = this.#context;
    const beganAtMs = performance.now();
    let isCounted = false;
    try {
      count.quota = await this.quotaOf(workspaceId, resource);
      const [row] = await store.read<{ used: string | null }>(sql, [workspaceId]);
      count.used = Number(row?.used ?? 0);
      // Some of what was added meanwhile may not be in the count: the next one has it.
      count.added = 0;
      count.countedAtMs = Date.now();
      isCounted = true;
    } catch (err) {
      log.warn({ err, workspaceId, resource }, 'the use of a quota was not counted');
    }
    count.triedAtMs = Date.now();
    count.tookMs = performance.now() - beganAtMs;
    if (isCounted) void this.#report(workspaceId, resource, count);
    return isCounted;
  }

  async #report(workspaceId: string, resource: Resource, count: Count): Promise<void> {
    const { used, quota, reportedAtMs } = count;
    if (used === 0 || used < quota * reportedPart || Date.now() - reportedAtMs < reportEveryMs)
      return;
    const { workspaces, log } = this.#context;
    const report = { workspaceId, resource, used: BigInt(used), quota: BigInt(quota) };
    try {
      await workspaces.reportQuotaUse(report, { timeoutMs: callMaxMs });
      count.reportedAtMs = Date.now();
    } catch (err) {
      log.warn({ err, workspaceId, resource }, 'the use of a quota was not reported');
    }
  }
}

/** The refusal of a call that would add to a resource at its quota. */
export function quotaExceeded(
  resource: Resource,
  { used, quota }: { used: number; quota: number },
): ConnectError {
  const { unit, freeBy } = resources[resource];
  const name = resource.replaceAll('_', ' ');
  const counted = (count: number) =>
    unit === 'bytes' ? `${Math.floor(count / 1024 / 1024)} MiB` : count.toLocaleString('en');
  const what = unit === 'bytes' ? ` for ${name.replace(/ bytes$/, 's')}` : ` ${name}`;
  const text = `the workspace has ${counted(used)} of at most ${counted(quota)}${what}: ${freeBy}, or ask the operator for a larger quota`;
  return refusedByQuota(resource, text);
}

/** The same with a text that another service has made. */
export function refusedByQuota(resource: Resource, text: string): ConnectError {
  const error = retryLater(text, Code.ResourceExhausted, retryMsOf(resource));
  return withReason(error, 'QUOTA_EXCEEDED');
}
