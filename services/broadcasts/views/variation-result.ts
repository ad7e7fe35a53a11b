import { intervalsOf } from '../variations/comparison.ts';
import type { VariationNumbers } from '../variations/stats.ts';
import { ratesOf } from '../variations/winner.ts';

/** The counts, rates and intervals of each variation, in order. */
export function variationResults(variations: readonly VariationNumbers[]) {
  const rates = ratesOf(variations);
  const intervals = intervalsOf(variations);
  return variations.map(({ templateId, name, numbers }, place) => {
    const { open_rate: openRate, click_rate: clickRate } = rates[place] ?? {};
    const { openRate: openRateInterval, clickRate: clickRateInterval } = intervals[place] ?? {};
    const { sent: recipients, delivered, opened: opens, clicked: clicks } = numbers;
    const counts = { recipients, delivered, opens, clicks, openRate, clickRate };
    return {
      templateId,
      templateName: name || templateId,
      ...counts,
      openRateInterval,
      clickRateInterval,
    };
  });
}
