import type { MessageInitShape } from '@bufbuild/protobuf';
import { durationFromMs, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import type { GetBroadcastPageResponseSchema } from '#gen/postrider/broadcasts/v1/page_pb.ts';

export type ShownPage = MessageInitShape<typeof GetBroadcastPageResponseSchema>;

const start = Date.UTC(2026, 10, 22, 9);
const time = (minute: number) => timestampFromMs(start + minute * 60_000);

/**
 * A test of two subjects on a fifth of 48,210 readers: 40 minutes of sending, and a day of opens.
 */
function numbersOf({ minutes, sample }: { minutes: number; sample: number }) {
  const stretches = Math.ceil(minutes / 8);
  const sent = Array.from({ length: stretches }, (_, at) =>
    at < 2 || (at >= 30 && at < 34) ? 1 : 0,
  );
  const parts = sent.map((on, at) => (on === 0 ? 0 : at < 2 ? sample / 2 : (48_100 - sample) / 4));
  const opened = parts.map((_, at) => {
    const waves = parts
      .slice(0, at + 1)
      .map((count, from) => count * 0.021 * Math.exp(-(at - from) / 16));
    return Math.round(waves.reduce((a, b) => a + b, 0));
  });
  return { sent: parts.map(Math.floor), opened };
}

type Counts = [recipients: number, opens: number, clicks: number];

const resultOf = (
  [templateId, templateName]: [string, string],
  [recipients, opens, clicks]: Counts,
) => {
  const interval = (count: number) => {
    const rate = count / recipients;
    const half = 1.96 * Math.sqrt((rate * (1 - rate)) / recipients);
    return { low: rate - half, high: rate + half };
  };
  const [openRate, clickRate] = [opens / recipients, clicks / recipients];
  return {
    ...{ templateId, templateName, recipients, opens, clicks, openRate, clickRate },
    openRateInterval: interval(opens),
    clickRateInterval: interval(clicks),
  };
};

/** `tested` has the counts of the sample, once there is a winner. */
const arm = (variation: [string, string], counts: Counts, tested: Counts | undefined) => {
  const result = resultOf(variation, counts);
  const { openRateInterval: openRate, clickRateInterval: clickRate } = result;
  const testResult = tested && resultOf(variation, tested);
  return { result, openRate, clickRate, testResult };
};

const links = [
  ['https://gazette.example/2026/the-long-way-home?utm_source=newsletter&utm_medium=email', 1_913],
  ['https://gazette.example/recipes/squash-soup?utm_source=newsletter&utm_medium=email', 822],
  ['https://gazette.example/events/open-evening-lyon?utm_source=newsletter', 407],
  ['https://shop.gazette.example/gift-cards?utm_source=newsletter', 166],
] as const;

/** A broadcast whose test is being sent, and one that ended a day ago. */
export function samplePage(state: 'running' | 'finished'): ShownPage {
  const isOver = state === 'finished';
  const sample = 9_642;
  const { sent, opened } = numbersOf({ minutes: isOver ? 1_440 : 24, sample });
  const sum = (counts: number[]) => counts.reduce((a, b) => a + b, 0);
  const [left, right] = [sum(sent) - sample / 2, sample / 2];
  const rightOpens = Math.round((right / sum(sent)) * 0.86 * sum(opened));
  const clicksOf = (share: number) => Math.round(share * (isOver ? 1 : 0.2));
  return {
    broadcast: {
      name: 'The Weekly: the long way home',
      status: isOver ? BroadcastStatus.SENT : BroadcastStatus.TESTING,
      enqueuedCount: 48_210,
      sentCount: sum(sent),
      failedCount: isOver ? 40 : 3,
      skippedCount: isOver ? 72 : 11,
      startedAt: time(0),
      audienceFrozenAt: time(0),
      completedAt: isOver ? time(272) : undefined,
      winningTemplate: isOver ? 'a' : undefined,
    },
    expiresAt: time(31 * 1_440 - 540),
    arms: [
      arm(
        ['a', 'A: The long way home'],
        [left, sum(opened) - rightOpens, clicksOf(left * 0.071)],
        isOver ? [sample / 2, 1_012, 343] : undefined,
      ),
      arm(
        ['b', 'B: What we found this week'],
        [right, rightOpens, clicksOf(right * 0.052)],
        isOver ? [sample / 2, 931, 251] : undefined,
      ),
    ],
    comparison: {
      metric: 'click_rate',
      best: 'a',
      second: 'b',
      difference: isOver ? 0.019 : 0.0037,
      low: isOver ? 0.0126 : -0.0011,
      high: isOver ? 0.0253 : 0.0087,
      isEnough: isOver,
    },
    decidedBy: isOver ? 'click_rate' : undefined,
    links: {
      links: links.map(([url, clicks]) => ({
        url,
        clicks: isOver ? clicks : Math.round(clicks / 6),
      })),
      linkCount: links.length,
    },
    timeline: { since: time(0), step: durationFromMs(8 * 60_000), sent, opened },
  };
}
