import { type CallOptions, Code, ConnectError } from '@connectrpc/connect';
import type { VariationStats } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Broadcast } from '../broadcast/broadcast.ts';
import type { SampleNumbers } from '../broadcast/row.ts';
import type { Peers } from '../peers.ts';
import type { Numbers } from './winner.ts';

export type StatsOf = (broadcastId: string, templateId: string) => VariationStats | undefined;

/** The limit of ListVariationStats. */
const broadcastsPerCall = 100;

/** The outcomes of each variation of the broadcasts that have started. */
export async function readStats(
  { sender }: Pick<Peers, 'sender'>,
  broadcasts: readonly Broadcast[],
  options?: CallOptions,
): Promise<StatsOf> {
  const started = broadcasts.filter(({ started_at }) => started_at);
  const [first] = started;
  if (!first) return () => undefined;
  const { workspace_id: workspaceId } = first;
  const stats: VariationStats[] = [];
  for (let from = 0; from < started.length; from += broadcastsPerCall) {
    const broadcastIds = started.slice(from, from + broadcastsPerCall).map(({ id }) => id);
    const answer = await sender.listVariationStats({ workspaceId, broadcastIds }, options);
    stats.push(...answer.stats);
  }
  const known = new Map(stats.map((each) => [`${each.broadcastId} ${each.templateId}`, each]));
  return (broadcastId, templateId) => known.get(`${broadcastId} ${templateId}`);
}

const waitMsMax = 2_000;
const missedCodes = [Code.Unavailable, Code.DeadlineExceeded, Code.Unimplemented];

/**
 * Undefined if messages doesn't answer within two seconds, so that a broadcast can still be read.
 */
export async function readStatsIfReached(
  context: Pick<Peers, 'sender'>,
  broadcasts: readonly Broadcast[],
): Promise<StatsOf | undefined> {
  return ifReached(readStats(context, broadcasts, { timeoutMs: waitMsMax }));
}

/** Undefined if the other service does not answer in time, or is older than the call. */
export async function ifReached<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (error) {
    if (missedCodes.includes(ConnectError.from(error).code)) return undefined;
    throw error;
  }
}

const none: Numbers = { sent: 0, delivered: 0, opened: 0, clicked: 0 };

export type VariationNumbers = { templateId: string; name: string; numbers: Numbers };

/** The numbers of the whole broadcast, in the order of its variations. */
export function numbersOf(
  { id, test_settings: test }: Broadcast,
  statsOf: StatsOf,
): VariationNumbers[] {
  return test.variations.map(({ template_id: templateId, variation_name: name }) => ({
    templateId,
    name,
    numbers: statsOf(id, templateId) ?? none,
  }));
}

/**
 * The numbers of the sample, as they are kept with the winner. Undefined while messages can't be
 * reached.
 */
export async function readSample(
  context: Pick<Peers, 'sender'>,
  broadcast: Broadcast,
): Promise<SampleNumbers[] | undefined> {
  const statsOf = await readStatsIfReached(context, [broadcast]);
  return statsOf && sampleOf(broadcast, statsOf);
}

/** The numbers of the whole broadcast, which are those of the sample until there is a winner. */
export function sampleOf(
  { id, test_settings: test }: Broadcast,
  statsOf: StatsOf,
): SampleNumbers[] {
  return test.variations.map(({ template_id }) => {
    const stats = statsOf(id, template_id);
    return {
      template_id,
      sent: stats?.sent ?? 0,
      delivered: stats?.delivered ?? 0,
      opened: stats?.opened ?? 0,
      clicked: stats?.clicked ?? 0,
      bounced: stats?.bounced ?? 0,
      complained: stats?.complained ?? 0,
      unsubscribed: stats?.unsubscribed ?? 0,
    };
  });
}

/**
 * The numbers of a test: of the whole broadcast until there is a winner, then as they were when it
 * was chosen. Undefined where they were not kept.
 */
export function testNumbersOf(
  broadcast: Broadcast,
  statsOf: StatsOf,
): VariationNumbers[] | undefined {
  const { winning_template, sample_numbers, test_settings: test } = broadcast;
  if (!winning_template) return numbersOf(broadcast, statsOf);
  return (
    (sample_numbers &&
      test.variations.map(({ template_id: templateId, variation_name: name }) => ({
        templateId,
        name,
        numbers: sample_numbers.find((each) => each.template_id === templateId) ?? none,
      }))) ??
    undefined
  );
}
