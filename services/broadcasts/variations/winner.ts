import type { VariationStats } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { DecidedBy, WinnerMetric } from '../broadcast/row.ts';

export type Numbers = Pick<VariationStats, 'sent' | 'delivered' | 'opened' | 'clicked'>;

/**
 * Opens and clicks per delivered message; where the provider reports no deliveries, per accepted
 * message.
 */
export function rates({ sent, delivered, opened, clicked }: Numbers, isReported: boolean) {
  const base = isReported ? delivered : sent;
  const share = (count: number) => (base === 0 ? 0 : Math.min(1, count / base));
  return { open_rate: share(opened), click_rate: share(clicked) };
}

/**
 * Whether deliveries are reported for most messages of every variation, so that rates may be shares
 * of them.
 */
export function reportsDelivery(variations: readonly { numbers: Numbers }[]): boolean {
  return variations.every(
    ({ numbers }) => numbers.sent === 0 || numbers.delivered * 2 > numbers.sent,
  );
}

/** The rates of each variation, in order. */
export function ratesOf(variations: readonly { numbers: Numbers }[]) {
  const isReported = reportsDelivery(variations);
  return variations.map(({ numbers }) => rates(numbers, isReported));
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
