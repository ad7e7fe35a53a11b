import type { TestSettings, WinnerMetric } from '../broadcast/row.ts';
import { type Numbers, ratesOf, reportsDelivery } from './winner.ts';

type Variation = { templateId: string; numbers: Numbers };

/**
 * The best variation and the one behind it, by one rate. Differences are of that rate, from 0 to 1.
 */
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

/** Below this many messages of a variation its rate says nothing. */
const messagesMin = 100;
/** The quantile of the normal distribution for 95 %. */
const z = 1.959963984540054;

type Decision = Pick<TestSettings, 'auto_send_winner' | 'auto_send_winner_metric'>;

/**
 * Compares by the rate that chooses the winner. Where a person chooses: by clicks, or by opens
 * while nobody has clicked.
 */
export function compare(
  variations: readonly Variation[],
  decision: Decision,
): Comparison | undefined {
  const metric = metricOf(variations, decision);
  const countOf = countsOf(variations);
  const rates = ratesOf(variations);
  const [best, second] = variations
    .map((variation, place) => ({
      templateId: variation.templateId,
      rate: rates[place]?.[metric] ?? 0,
      count: countOf(variation),
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

function metricOf(variations: readonly Variation[], decision: Decision): WinnerMetric {
  const { auto_send_winner: isAutomatic, auto_send_winner_metric: chosen } = decision;
  if (isAutomatic && chosen !== '') return chosen;
  return variations.some(({ numbers }) => numbers.clicked > 0) ? 'click_rate' : 'open_rate';
}

export type Interval = { low: number; high: number };

/** The intervals of both rates of each variation, in order. */
export function intervalsOf(
  variations: readonly Variation[],
): { openRate: Interval; clickRate: Interval }[] {
  const countOf = countsOf(variations);
  return ratesOf(variations).map(({ open_rate, click_rate }, place) => {
    const count = countOf(variations[place]);
    return {
      openRate: wilson({ rate: open_rate, count }),
      clickRate: wilson({ rate: click_rate, count }),
    };
  });
}

/** The messages that rates are shares of. */
function countsOf(variations: readonly Variation[]): (variation?: Variation) => number {
  const isReported = reportsDelivery(variations);
  return (variation) => (isReported ? variation?.numbers.delivered : variation?.numbers.sent) ?? 0;
}

type Proportion = { rate: number; count: number };

/** Newcombe's hybrid score interval of the difference of two proportions. */
function differenceInterval(a: Proportion, b: Proportion): Interval {
  const [ofA, ofB] = [wilson(a), wilson(b)];
  const difference = a.rate - b.rate;
  return {
    low: Math.max(-1, difference - Math.hypot(a.rate - ofA.low, ofB.high - b.rate)),
    high: Math.min(1, difference + Math.hypot(ofA.high - a.rate, b.rate - ofB.low)),
  };
}

/** Wilson's score interval of a proportion; everything is possible where nothing was counted. */
function wilson({ rate, count }: Proportion): Interval {
  if (count === 0) return { low: 0, high: 1 };
  const share = z ** 2 / count;
  const middle = (rate + share / 2) / (1 + share);
  const half = (z / (1 + share)) * Math.sqrt((rate * (1 - rate) + share / 4) / count);
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}
