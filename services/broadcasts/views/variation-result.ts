import type { numbersOf } from '../variations/stats.ts';
import { ratesOf } from '../variations/winner.ts';

/** The counts and rates of each variation, in order. */
export function variationResults(variations: ReturnType<typeof numbersOf>) {
  const rates = ratesOf(variations);
  return variations.map(({ templateId, name, numbers }, place) => {
    const { open_rate: openRate, click_rate: clickRate } = rates[place] ?? {};
    const { sent: recipients, delivered, opened: opens, clicked: clicks } = numbers;
    const counts = { recipients, delivered, opens, clicks, openRate, clickRate };
    return { templateId, templateName: name || templateId, ...counts };
  });
}
