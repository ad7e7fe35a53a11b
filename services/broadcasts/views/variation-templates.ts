import type { Broadcast } from '../broadcast.ts';
import type { Peers } from '../peers.ts';
import type { broadcastMessages } from './broadcast.ts';

type BroadcastMessages = Awaited<ReturnType<typeof broadcastMessages>>;

/** Puts its template to each variation: the version that is sent, or the newest one before it is pinned. */
export async function addTemplates(
  { templates }: Pick<Peers, 'templates'>,
  broadcasts: readonly Broadcast[],
  messages: BroadcastMessages,
) {
  const keys = broadcasts.map(keysOf);
  const [first] = broadcasts;
  if (!first) return [];
  const { found } = await templates.batchGetTemplates({
    workspaceId: first.workspace_id,
    keys: keys.flat(),
  });
  const known = new Map(found.map(({ key, template }) => [`${key?.id} ${key?.version}`, template]));
  return messages.map((message, at) => {
    const { testSettings } = message;
    const variations = testSettings.variations.map((variation, arm) => {
      const key = keys[at]?.[arm];
      return { ...variation, template: known.get(`${key?.id} ${key?.version}`) };
    });
    return { ...message, testSettings: { ...testSettings, variations } };
  });
}

function keysOf({ test_settings, plan }: Broadcast) {
  return test_settings.variations.map(({ template_id: id }, arm) => ({
    id,
    version: plan?.variations[arm]?.template_version ?? 0,
  }));
}
