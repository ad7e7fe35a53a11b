import { randomFrom } from '../../test/chaos/schedule.ts';
import { addTo, type Costs, costsOf, ratesBeside, unitCosts } from './costs.ts';
import type { Fleet } from './fleets.ts';
import { load, usableShare } from './load.ts';

/** Broadcasts whose time is the same minute. */
type Cohort = { minute: number; runs: number; mails: number; waiting: number; left: number };

export type Day = {
  /** Minutes after its time until all but 5 % of the mail had left. */
  latenessMinutes: number;
  /** The scarcest resource of the busiest minute, and how much of it was in use. */
  tightest: { name: string; share: number };
};

const minutesOfDay = 1_440;
/** The first day fills the queues; the second counts. */
const days = 2;
const microsOfMinute = 60_000_000;
const seed = 19;

/**
 * Two days of a fleet, minute by minute: broadcasts take what everything else leaves, oldest first.
 */
export function simulate(fleet: Fleet, recipientsPerDay: number): Day {
  const perCell = recipientsPerDay / fleet.cells;
  const tenants = Math.round(load.tenants / fleet.cells);
  const cohorts = cohortsOf(perCell * (1 - load.transactionalShare), tenants);
  const broadcast = costsOf('broadcast');
  const late: [minutes: number, mails: number][] = [];
  const queue: Cohort[] = [];
  let tightest = { name: '', share: 0 };
  const each = fleet.servers.map(({ runs }) => sumOf(broadcast, runs));
  const freeByHour = load.hours.map((_, hour) => freeOf(fleet, besideOf(perCell, tenants, hour)));
  for (let minute = 0; minute < days * minutesOfDay; minute += 1) {
    const today = minute % minutesOfDay;
    for (const cohort of cohorts[today] ?? []) queue.push({ ...cohort, minute });
    const free = [...(freeByHour[Math.floor(today / 60)] ?? [])];
    startRuns(queue, fleet, free);
    const sent = send(queue, mostOf(free, each), minute >= minutesOfDay ? late : [], minute);
    for (const [at, { name, cores }] of fleet.servers.entries()) {
      const left = (free[at] ?? 0) - sent * (each[at] ?? 0);
      const share = 1 - left / (cores * usableShare * microsOfMinute);
      if (share > tightest.share) tightest = { name, share };
    }
  }
  for (const { minute, left } of queue) late.push([days * minutesOfDay - minute, left]);
  return { latenessMinutes: quantile(late, 0.95), tightest };
}

const sumOf = (costs: Costs, names: readonly string[]): number =>
  names.reduce((sum, name) => sum + (costs[name] ?? 0), 0);

/** Microseconds of a minute that broadcasts may use, by server. */
function freeOf({ servers }: Fleet, beside: Costs): number[] {
  return servers.map(({ cores, runs }) =>
    Math.max(0, cores * usableShare * microsOfMinute - sumOf(beside, runs)),
  );
}

/** Broadcasts by the minute of their start, of one day. */
function cohortsOf(mails: number, tenants: number): Record<number, Cohort[]> {
  const random = randomFrom(seed);
  const weights = Array.from({ length: tenants }, (_, at) => 1 / (at + 1) ** load.zipf);
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const byMinute = new Map<number, Cohort>();
  for (const weight of weights) {
    for (let number = 0; number < load.broadcastsPerTenantPerDay; number += 1) {
      const inHour = random() < load.atFullHour ? 0 : Math.floor(random() * 60);
      const minute = hourOf(random()) * 60 + inHour;
      const found = byMinute.get(minute) ?? { minute, runs: 0, mails: 0, waiting: 0, left: 0 };
      const size = ((weight / all) * mails) / load.broadcastsPerTenantPerDay;
      found.runs += 1;
      found.mails += size;
      found.left += size;
      found.waiting = found.runs;
      byMinute.set(minute, found);
    }
  }
  return Object.fromEntries([...byMinute].map(([minute, cohort]) => [minute, [cohort]]));
}

const hoursAll = load.hours.reduce((sum: number, share) => sum + share, 0);

function hourOf(share: number): number {
  let left = share * hoursAll;
  return Math.max(
    0,
    load.hours.findIndex((each) => {
      left -= each;
      return left < 0;
    }),
  );
}

/** Microseconds of a minute beside broadcasts. */
function besideOf(perDay: number, tenants: number, hour: number): Costs {
  const ofHour = (load.hours[hour] ?? 0) / hoursAll;
  const sum: Costs = {};
  for (const [kind, perSecond] of ratesBeside((perDay * ofHour) / 3_600, tenants)) {
    addTo(sum, costsOf(kind), perSecond * 60);
  }
  return sum;
}

/** Temporal begins runs in order; mails of a run that has not begun wait. */
function startRuns(queue: readonly Cohort[], { servers }: Fleet, free: number[]): void {
  const at = servers.findIndex(({ runs }) => runs.includes('temporal'));
  for (const cohort of queue) {
    const left = free[at] ?? 0;
    if (left <= 0) return;
    const begun = Math.min(cohort.waiting, left / unitCosts.temporal.cpuMicrosPerRun);
    cohort.waiting -= begun;
    free[at] = left - begun * unitCosts.temporal.cpuMicrosPerRun;
  }
}

/** The number of broadcast mails that fit into what is free. */
function mostOf(free: readonly number[], each: readonly number[]): number {
  return Math.min(...free.map((micros, at) => micros / Math.max(1e-9, each[at] ?? 0)));
}

function send(
  queue: Cohort[],
  most: number,
  late: [minutes: number, mails: number][],
  minute: number,
): number {
  let room = most;
  for (const cohort of queue) {
    if (room <= 0) break;
    const notBegun = (cohort.waiting / cohort.runs) * cohort.mails;
    const now = Math.min(Math.max(0, cohort.left - notBegun), room);
    cohort.left -= now;
    room -= now;
    if (now > 0) late.push([minute - cohort.minute, now]);
  }
  while (queue[0] && queue[0].left < 1e-6) queue.shift();
  return most - room;
}

/** The minutes that so large a share of the mails does not exceed. */
function quantile(late: [minutes: number, mails: number][], share: number): number {
  const sorted = late.toSorted(([one], [other]) => one - other);
  let left = share * sorted.reduce((sum, [, mails]) => sum + mails, 0);
  for (const [minutes, mails] of sorted) {
    left -= mails;
    if (left <= 0) return minutes;
  }
  return 0;
}
