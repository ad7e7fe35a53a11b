import type { WinnerMetric } from '../broadcast-row.ts';
import { type Numbers, ratesOf } from './winner.ts';

type Variation = { templateId: string; numbers: Numbers };

/** The best variation and the one behind it, by one rate. Differences are of that rate, from 0 to 1. */
export type Comparison = {
  metric: WinnerMetric;
  best: string;
  second: string;
  difference: number;
  /** The bounds of the interval that holds the true difference in 95 of 100 tests. */
  low: number;
  high: number;
  /** Whether the best one is better, and not by chance. */
  isEnough: boolean;
};

/** Below this many messages of each variation nothing is told apart. */
const messagesMin = 100;
/** The quantile of the normal distribution for 95 %. */
const z = 1.959963984540054;

/** Compares by clicks, or by opens where nobody has clicked. */
export function compare(variations: readonly Variation[]): Comparison | undefined {
  const metric = variations.some(({ numbers }) => numbers.clicked > 0) ? 'click_rate' : 'open_rate';
  const reportsDelivery = variations.some(({ numbers }) => numbers.delivered > 0);
  const rates = ratesOf(variations);
  const [best, second] = variations
    .map(({ templateId, numbers }, place) => ({
      templateId,
      rate: rates[place]?.[metric] ?? 0,
      count: reportsDelivery ? numbers.delivered : numbers.sent,
    }))
    .sort((a, b) => b.rate - a.rate);
  if (!best || !second) return undefined;
  const { low, high } = differenceInterval(best, second);
  return {
    metric,
    best: best.templateId,
    second: second.templateId,
    difference: best.rate - second.rate,
    low,
    high,
    isEnough: low > 0 && Math.min(best.count, second.count) >= messagesMin,
  };
}

type Proportion = { rate: number; count: number };

/** Newcombe's hybrid score interval of the difference of two proportions. */
function differenceInterval(a: Proportion, b: Proportion): { low: number; high: number } {
  const [ofA, ofB] = [wilson(a), wilson(b)];
  const difference = a.rate - b.rate;
  return {
    low: Math.max(-1, difference - Math.hypot(a.rate - ofA.low, ofB.high - b.rate)),
    high: Math.min(1, difference + Math.hypot(ofA.high - a.rate, b.rate - ofB.low)),
  };
}

/** Wilson's score interval of a proportion; everything is possible where nothing was counted. */
function wilson({ rate, count }: Proportion): { low: number; high: number } {
  if (count === 0) return { low: 0, high: 1 };
  const share = z ** 2 / count;
  const middle = (rate + share / 2) / (1 + share);
  const half = (z / (1 + share)) * Math.sqrt((rate * (1 - rate) + share / 4) / count);
  return { low: middle - half, high: middle + half };
}
