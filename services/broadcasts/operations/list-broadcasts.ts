import { requirePermission } from '#lib/rpc/server/access.ts';
import { Broadcast } from '../broadcast/broadcast.ts';
import type { Context, Methods } from '../context.ts';
import { readOutcomes } from '../variations/outcomes.ts';
import { readTemplates } from '../variations/templates.ts';
import { broadcastMessage, statusWord } from '../views/broadcast.ts';

const pageSizeDefault = 50;
/** Each may come with the templates of eight variations. */
const withTemplatesMax = 100;

export function listBroadcasts(context: Context): Methods['listBroadcasts'] {
  return async (request, call) => {
    const { workspaceId, status, limit = pageSizeDefault, offset, withTemplates } = request;
    if (withTemplates) requirePermission(call, 'templates', 'read');
    const em = context.store.fork();
    const word = statusWord(status);
    const where = { workspace_id: workspaceId, ...(word ? { status: word } : {}) };
    const [broadcasts, total] = await em.findAndCount(Broadcast, where, {
      orderBy: { created_at: 'desc', id: 'asc' },
      limit: withTemplates ? Math.min(limit, withTemplatesMax) : limit,
      offset,
    });
    const outcomes = await readOutcomes(context, em, broadcasts);
    const templateOf = withTemplates ? await readTemplates(context, broadcasts) : undefined;
    const parts = { ...outcomes, templateOf, pageUrlOf: context.pageLinks.urlOf };
    return {
      broadcasts: broadcasts.map((each) => broadcastMessage(each, parts)),
      totalCount: total,
    };
  };
}
