import type { Template } from '#gen/postrider/templates/v1/templates_pb.ts';
import type { Broadcast } from '../broadcast/broadcast.ts';
import type { Peers } from '../peers.ts';

/** The template of a variation; undefined where it was deleted. */
export type TemplateOf = (broadcast: Broadcast, arm: number) => Template | undefined;

/** Reads the version of each template that is sent, or the newest one before it is pinned. */
export async function readTemplates(
  { templates }: Pick<Peers, 'templates'>,
  broadcasts: readonly Broadcast[],
): Promise<TemplateOf> {
  const [first] = broadcasts;
  if (!first) return () => undefined;
  const { found } = await templates.batchGetTemplates({
    workspaceId: first.workspace_id,
    keys: broadcasts.flatMap((broadcast) =>
      broadcast.test_settings.variations.map((_, arm) => keyOf(broadcast, arm)),
    ),
  });
  const known = new Map(found.map(({ key, template }) => [`${key?.id} ${key?.version}`, template]));
  return (broadcast, arm) => {
    const { id, version } = keyOf(broadcast, arm);
    return known.get(`${id} ${version}`);
  };
}

function keyOf({ test_settings, plan }: Broadcast, arm: number) {
  return {
    id: test_settings.variations[arm]?.template_id ?? '',
    version: plan?.variations[arm]?.template_version ?? 0,
  };
}
