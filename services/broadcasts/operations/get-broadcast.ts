import type { ServiceImpl } from '@connectrpc/connect';
import type { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { requirePermission } from '#lib/rpc/server/access.ts';
import { broadcastMessages, findBroadcast } from '../broadcast-queries.ts';
import type { Context } from '../context.ts';
import { wholeDataFeed } from '../feeds/global.ts';
import { addTemplates } from '../views/variation-templates.ts';

export function get(context: Context): ServiceImpl<typeof BroadcastService>['getBroadcast'] {
  return async ({ workspaceId, id, withTemplates }, call) => {
    if (withTemplates) requirePermission(call, 'templates', 'read');
    const em = context.store.fork();
    const broadcast = await findBroadcast(em, { workspaceId, id });
    const messages = await broadcastMessages(context, em, [broadcast]);
    const [message] = withTemplates ? await addTemplates(context, [broadcast], messages) : messages;
    return { broadcast: { ...message, dataFeed: await wholeDataFeed(em, broadcast) } };
  };
}
