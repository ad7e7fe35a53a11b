import { createHash } from 'node:crypto';
import type { Client } from '@connectrpc/connect';
import type { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Log } from '#lib/log.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { LimitKind, RequestLimits } from './request-limits.ts';

/** A key, hashed since it may be an address, and the requests since the last report. */
export type Usage = { key: string; count: number };

/** Adds to what all processes have counted, and returns the new totals, in the same order. */
export type ReportUsage = (usage: readonly Usage[]) => Promise<readonly bigint[]>;

const everyMs = 1_000;
const reportMaxMs = 2_000;
/** Of one report. */
export const usageMax = 500;
/** What is used less than this part of a limit is not reported. */
const reportedPart = 1 / 20;
/** Below this part of a limit all processes together leave each of them all of it. */
const sharedPart = 0.8;
/** So that a process that joins the others gets something. */
const shareMin = 0.1;

/** Reports to workspaces, which adds up for all. */
export function usageReporter(
  directory: Client<typeof WorkspaceDirectoryService>,
  authorization?: () => Promise<string>,
): ReportUsage {
  return async (usage) => {
    const headers = authorization && { authorization: await authorization() };
    const options = { timeoutMs: reportMaxMs, ...(headers && { headers }) };
    return (await directory.reportUsage({ usage: [...usage] }, options)).totals;
  };
}

/**
 * Keeps the limits of all processes together: each counts by itself, reports in the background what
 * it has counted and learns what all have. If they come near a limit together, it goes on with its
 * share of it. Without answers it keeps the shares that it has.
 */
export function shareUsage(
  limits: RequestLimits,
  report: ReportUsage,
  log: Pick<Log, 'warn'>,
): { stop(): void } {
  const shared = new SharedUsage(limits, report);
  let isFailing = false;
  let isBusy = false;
  const exchange = async () => {
    if (isBusy) return;
    isBusy = true;
    try {
      await shared.exchange(everyMs);
      isFailing = false;
    } catch (err) {
      if (!isFailing) log.warn({ err }, 'limits of requests are not shared at the moment');
      isFailing = true;
    }
    isBusy = false;
  };
  const timer = setInterval(exchange, everyMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

type Counted = { kind: LimitKind; key: string; count: number; limit: number };
type Known = { total: bigint; share: number };

export class SharedUsage {
  readonly #limits: RequestLimits;
  readonly #report: ReportUsage;
  /** The totals and shares of the last report, by kind and key. */
  #known = new Map<string, Known>();

  constructor(limits: RequestLimits, report: ReportUsage) {
    this.#limits = limits;
    this.#report = report;
  }

  async exchange(sinceMs: number): Promise<void> {
    const counted = [...this.#limits.buckets]
      .flatMap(([kind, buckets]) => countedIn(kind, buckets, sinceMs))
      .toSorted((one, other) => other.count / other.limit - one.count / one.limit)
      .slice(0, usageMax);
    const usage = counted.map(({ kind, key, count }) => ({ key: hashOf(kind, key), count }));
    const totals = usage.length > 0 ? await this.#report(usage) : [];
    const known = new Map<string, Known>();
    counted.forEach((each, at) => {
      const name = `${each.kind} ${each.key}`;
      const total = totals[at] ?? 0n;
      known.set(name, { total, share: shareOf(each, total, this.#known.get(name)) });
    });
    this.#known = known;
    for (const [kind, buckets] of this.#limits.buckets) {
      const shares = counted
        .filter((each) => each.kind === kind)
        .map(({ key }) => [key, known.get(`${kind} ${key}`)?.share ?? 1] as const);
      buckets.setShares(new Map(shares.filter(([, share]) => share < 1)));
    }
  }
}

function countedIn(kind: LimitKind, buckets: RateLimiter, sinceMs: number): Counted[] {
  const limit = (buckets.perSecond * sinceMs) / 1_000;
  return [...buckets.takeUsage()]
    .filter(([, count]) => count >= limit * reportedPart)
    .map(([key, count]) => ({ kind, key, count, limit }));
}

/** The part of a limit that a process may use: as much of it as it has used of what all have. */
function shareOf({ count, limit }: Counted, total: bigint, known: Known | undefined): number {
  const all = known ? Number(total - known.total) : count;
  if (all <= count || all < limit * sharedPart) return 1;
  // Reports of others come at any time: the mean of two evens that out.
  return Math.max(shareMin, (count / all + (known?.share ?? 1)) / 2);
}

function hashOf(kind: LimitKind, key: string): string {
  return createHash('sha256').update(`${kind} ${key}`).digest('hex');
}
