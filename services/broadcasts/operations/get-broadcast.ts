import { requirePermission } from '#lib/rpc/server/access.ts';
import { findBroadcast } from '../broadcast/queries.ts';
import type { Context, Methods } from '../context.ts';
import { readGlobalFeed } from '../feeds/global.ts';
import { readOutcomes } from '../variations/outcomes.ts';
import { readTemplates } from '../variations/templates.ts';
import { broadcastMessage } from '../views/broadcast.ts';

export function getBroadcast(context: Context): Methods['getBroadcast'] {
  return async ({ workspaceId, id, withTemplates }, call) => {
    if (withTemplates) requirePermission(call, 'templates', 'read');
    const em = context.store.fork();
    const broadcast = await findBroadcast(em, { workspaceId, id });
    const outcomes = await readOutcomes(context, em, [broadcast]);
    const templateOf = withTemplates ? await readTemplates(context, [broadcast]) : undefined;
    const globalFeedJson = await readGlobalFeed(em, { workspaceId, id });
    return {
      broadcast: broadcastMessage(broadcast, {
        ...outcomes,
        templateOf,
        globalFeedJson,
        pageUrlOf: context.pageLinks.urlOf,
      }),
    };
  };
}
