import { at } from '../../bench/webhooks/figures.ts';
import type { Made } from './calls.ts';
import type { Sample } from './samples.ts';

export type Check = { isGood: boolean; text: string };

export type Span = { startedAtMs: number; forMs: number };

/** Largest growth from the second quarter to the last. */
const growthMax = 1.1;
/** Compilers and caches of a young process are still growing. */
const warmUpMsMax = 180_000;
/** In a shorter run all processes are young. */
export const verdictFromMs = 24 * 60_000;
/** Beyond it Temporal warns; a run begins anew long before. */
const historyMax = 10_000;
/** PostgreSQL and Temporal are not ours: their memory is shown without a verdict. */
const servers = ['postgres', 'temporal', 'inbox'];

/** The replicas of a service or worker have one role: each starts anew when it is killed. */
export const roleOf = (name: string): string => name.replace(/-\d+$/, '');

type Growth = { before: number; after: number; ratio: number };

/**
 * The medians of the second and of the last quarter; undefined if one has no sample of a process
 * that has warmed up.
 */
export function growthOf(samples: readonly Sample[], span: Span): Growth | undefined {
  const warmUpMs = Math.min(warmUpMsMax, span.forMs / 20);
  const warm = samples.filter(({ ageMs }) => ageMs >= warmUpMs);
  const [before, after] = [1, 3].map((quarter) => {
    const values = warm.filter(({ atMs }) => quarterOf(atMs, span) === quarter);
    return values.length === 0
      ? undefined
      : at(
          values.map(({ value }) => value),
          0.5,
        );
  });
  if (before === undefined || after === undefined) return undefined;
  return { before, after, ratio: after / before };
}

/** 0 to 3; later ones belong to the time after the load. */
export const quarterOf = (atMs: number, { startedAtMs, forMs }: Span): number =>
  Math.floor(((atMs - startedAtMs) / forMs) * 4);

export function checkMemory(samples: readonly Sample[], span: Span): Check[] {
  const byRole = Map.groupBy(samples, ({ name }) => roleOf(name));
  return [...byRole].map(([role, own]) => {
    const growth = growthOf(own, span);
    if (servers.includes(role) || span.forMs < verdictFromMs) {
      return { isGood: true, text: `memory of ${role}: ${textOf(growth)}, no verdict` };
    }
    return checkGrowth(`memory of ${role}`, growth);
  });
}

/** The verdict is about the sum; each user is shown. */
export function checkConnections(samples: readonly Sample[], span: Span): Check[] {
  const totals = [...Map.groupBy(samples, ({ atMs }) => atMs)].map(([atMs, own]) => ({
    ...{ name: 'connections', atMs, ageMs: Number.POSITIVE_INFINITY },
    value: own.reduce((sum, { value }) => sum + value, 0),
  }));
  const shown = [...Map.groupBy(samples, ({ name }) => name)].map(([name, own]) => ({
    isGood: true,
    text: `connections of ${name}: ${textOf(growthOf(own, span))}, no verdict`,
  }));
  return [...shown, checkGrowth('connections to PostgreSQL', growthOf(totals, span))];
}

function checkGrowth(what: string, growth: Growth | undefined): Check {
  const isGood = growth !== undefined && growth.ratio <= growthMax;
  return { isGood, text: `${what}: ${textOf(growth)}, at most ${growthMax} times` };
}

function textOf(growth: Growth | undefined): string {
  if (growth === undefined) return 'not sampled in its second and last quarter';
  const { before, after, ratio } = growth;
  return `${before.toFixed(0)}, then ${after.toFixed(0)} (${ratio.toFixed(2)} times)`;
}

export function checkHistory(samples: readonly Sample[]): Check {
  const longest = Math.max(0, ...samples.map(({ value }) => value));
  const text = `longest history of a run: ${longest} events, at most ${historyMax}`;
  return { isGood: samples.length > 0 && longest <= historyMax, text };
}

/** A killed process is a reset or a 503, which clients repeat; any other 5xx is a fault of ours. */
export function checkAnswers(made: readonly Made[]): Check {
  const broken = made.filter(({ status }) => status >= 500 && status !== 503 && status !== 504);
  const repeated = made.filter(({ status }) => isRepeated(status)).length;
  const kinds = [...new Set(broken.map(({ kind, status }) => `${kind} ${status}`))].join(', ');
  const text = `${made.length} calls, ${repeated} without an answer or to be repeated, ${broken.length} failed ${kinds}`;
  return { isGood: broken.length === 0, text: text.trimEnd() };
}

const isRepeated = (status: number) => [0, 429, 503, 504].includes(status);

/**
 * A line for each kind of call: how many, how long they took, and in the second and last quarter.
 */
export function table(made: readonly Made[], span: Span): string[] {
  const head = ['kind', 'calls', 'p50 ms', 'p99 ms', '2nd quarter', 'last', 'repeated'];
  const rows = [...Map.groupBy(made, ({ kind }) => kind)].map(([kind, own]) => {
    const good = own.filter(({ status }) => status > 0 && status < 500 && status !== 429);
    const p99Of = (quarter: number) =>
      p(
        good.filter(({ startedAtMs }) => quarterOf(startedAtMs, span) === quarter),
        0.99,
      );
    const repeated = own.filter(({ status }) => isRepeated(status)).length;
    return [kind, `${own.length}`, p(good, 0.5), p(good, 0.99), p99Of(1), p99Of(3), `${repeated}`];
  });
  return [head, ...rows].map(([kind = '', ...figures]) =>
    [kind.padEnd(28), ...figures.map((text) => text.padStart(12))].join(''),
  );
}

function p(made: readonly Made[], share: number): string {
  if (made.length === 0) return '-';
  return at(
    made.map(({ ms }) => ms),
    share,
  ).toFixed(0);
}
