import { requirePermission } from '#lib/rpc/server/access.ts';
import { findBroadcast } from '../broadcast-queries.ts';
import type { Context, Methods } from '../context.ts';
import { broadcastMessages } from '../views/broadcast.ts';
import { wholeDataFeed } from '../views/data-feed.ts';
import { addTemplates } from '../views/variation-templates.ts';

export function getBroadcast(context: Context): Methods['getBroadcast'] {
  return async ({ workspaceId, id, withTemplates }, call) => {
    if (withTemplates) requirePermission(call, 'templates', 'read');
    const em = context.store.fork();
    const broadcast = await findBroadcast(em, { workspaceId, id });
    const messages = await broadcastMessages(context, em, [broadcast]);
    const [message] = withTemplates ? await addTemplates(context, [broadcast], messages) : messages;
    return { broadcast: { ...message, dataFeed: await wholeDataFeed(em, broadcast) } };
  };
}
