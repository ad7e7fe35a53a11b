import type { VariationStats } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { DecidedBy, WinnerMetric } from '../broadcast-row.ts';

export type Numbers = Pick<VariationStats, 'sent' | 'delivered' | 'opened' | 'clicked'>;

/** Opens and clicks per delivered message; where the provider reports no deliveries, per accepted message. */
export function rates({ sent, delivered, opened, clicked }: Numbers, reportsDelivery: boolean) {
  const base = reportsDelivery ? delivered : sent;
  const share = (count: number) => (base === 0 ? 0 : Math.min(1, count / base));
  return { open_rate: share(opened), click_rate: share(clicked) };
}

/** The rates of each variation, in order. A single reported delivery means that the provider reports them. */
export function ratesOf(variations: readonly { numbers: Numbers }[]) {
  const reportsDelivery = variations.some(({ numbers }) => numbers.delivered > 0);
  return variations.map(({ numbers }) => rates(numbers, reportsDelivery));
}

/** The best variation; the first one if nobody reacted or others are equal. */
export function decideWinner(
  variations: readonly { templateId: string; numbers: Numbers }[],
  metric: WinnerMetric,
): { templateId: string; decidedBy: DecidedBy } {
  const scores = ratesOf(variations).map((each) => each[metric]);
  const best = Math.max(...scores);
  const winner = variations[scores.indexOf(best)];
  if (!winner) throw new Error('a test needs variations');
  const isTie = scores.filter((score) => score === best).length > 1;
  const decidedBy = best === 0 ? 'silence' : isTie ? 'tie' : metric;
  return { templateId: winner.templateId, decidedBy };
}
