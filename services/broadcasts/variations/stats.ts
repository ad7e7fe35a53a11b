import { type CallOptions, Code, ConnectError } from '@connectrpc/connect';
import type { VariationStats } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Broadcast } from '../broadcast.ts';
import type { Peers } from '../peers.ts';
import type { Numbers } from './winner.ts';

export type StatsOf = (broadcastId: string, templateId: string) => VariationStats | undefined;

/** The outcomes of each variation of the broadcasts that have started. */
export async function readStats(
  { sender }: Pick<Peers, 'sender'>,
  broadcasts: readonly Broadcast[],
  options?: CallOptions,
): Promise<StatsOf> {
  const started = broadcasts.filter(({ started_at }) => started_at);
  const [first] = started;
  if (!first) return () => undefined;
  const { stats } = await sender.listVariationStats(
    { workspaceId: first.workspace_id, broadcastIds: started.map(({ id }) => id) },
    options,
  );
  const known = new Map(stats.map((each) => [`${each.broadcastId} ${each.templateId}`, each]));
  return (broadcastId, templateId) => known.get(`${broadcastId} ${templateId}`);
}

const waitMsMax = 2_000;
const missedCodes = [Code.Unavailable, Code.DeadlineExceeded, Code.Unimplemented];

/** Undefined if messages doesn't answer within two seconds, so that a broadcast can still be read. */
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

/** The numbers of a test, in the order of its variations. */
export function numbersOf({ id, test_settings: test }: Broadcast, statsOf: StatsOf) {
  return test.variations.map(({ template_id: templateId, variation_name: name }) => ({
    templateId,
    name,
    numbers: statsOf(id, templateId) ?? none,
  }));
}
