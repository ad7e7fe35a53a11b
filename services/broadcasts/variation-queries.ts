import type { VariationStats } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Broadcast } from './broadcast.ts';
import type { Context } from './context.ts';
import type { Numbers } from './winner.ts';

export type StatsOf = (broadcastId: string, templateId: string) => VariationStats | undefined;

/** What became of each variation of broadcasts; those that have not started are not asked about. */
export async function readStats(
  { sender }: Context,
  broadcasts: readonly Broadcast[],
): Promise<StatsOf> {
  const started = broadcasts.filter(({ started_at }) => started_at);
  const [first] = started;
  if (!first) return () => undefined;
  const { stats } = await sender.listVariationStats({
    workspaceId: first.workspace_id,
    broadcastIds: started.map(({ id }) => id),
  });
  const known = new Map(stats.map((each) => [`${each.broadcastId} ${each.templateId}`, each]));
  return (broadcastId, templateId) => known.get(`${broadcastId} ${templateId}`);
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
