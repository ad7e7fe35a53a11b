import { expectTemplateUses } from '#lib/jobs/template-uses.ts';
import type { Broadcast, BroadcastContent } from '../broadcast/broadcast.ts';
import { broadcastChanged, findBroadcast } from '../broadcast/queries.ts';
import type { Context, Methods } from '../context.ts';
import { checkDataFeed, storedDataFeed } from '../feeds/data-feed.ts';
import { readGlobalFeed } from '../feeds/global.ts';
import { storedContent } from '../input/content.ts';
import { reschedule, zoneOfWorkspace } from '../input/reschedule.ts';
import { changeBroadcast } from '../lifecycle/change.ts';
import { checkNotOpenedOf } from '../plan/not-opened-of.ts';
import { checkSendable } from '../plan/sendable.ts';
import { readOutcomes } from '../variations/outcomes.ts';
import {
  beginBroadcastUses,
  broadcastUser,
  releaseBroadcastUses,
  templateIdsOf,
} from '../variations/template-uses.ts';
import { broadcastMessage } from '../views/broadcast.ts';

export function updateBroadcast(context: Context): Methods['updateBroadcast'] {
  const { store, now, keyring } = context;
  return async (request, call) => {
    checkDataFeed(context, request);
    const current = await findBroadcast(store.fork(), request);
    const contentOf = ({ integration_id }: Broadcast) =>
      storedContent({ ...request, integrationId: request.integrationId ?? integration_id });
    const content = contentOf(current);
    const isChecked = await checkIfScheduled(context, current, content);
    if (isChecked) await expectTemplateUses(store, broadcastUser(request));
    const zone = request.schedule ? await zoneOfWorkspace(context, request.workspaceId) : '';
    let isFreed = false;
    const answer = await changeBroadcast(
      store,
      request,
      async (broadcast, em) => {
        const before = templateIdsOf(broadcast);
        const isAsChecked = isChecked && broadcast.integration_id === current.integration_id;
        broadcast.update(now(), contentOf(broadcast));
        if (broadcast.status !== 'draft' && !isAsChecked) throw broadcastChanged();
        broadcast.data_feed = storedDataFeed(keyring, request.dataFeed, {
          workspaceId: broadcast.workspace_id,
          id: broadcast.id,
          before: broadcast.data_feed ?? null,
        });
        if (request.schedule) reschedule(broadcast, request.schedule, { now: now(), zone });
        if (broadcast.status !== 'draft') {
          await beginBroadcastUses(em, context, broadcast, before);
          const after = templateIdsOf(broadcast);
          isFreed = before.some((id) => !after.includes(id));
        }
        const outcomes = await readOutcomes(context, em, [broadcast]);
        const globalFeedJson = await readGlobalFeed(em, request);
        return {
          broadcast: broadcastMessage(broadcast, {
            ...outcomes,
            globalFeedJson,
            pageUrlOf: context.pageLinks.urlOf,
          }),
        };
      },
      call,
    );
    if (isFreed) await releaseBroadcastUses(context, request);
    return answer;
  };
}

/** A broadcast that will be sent has to stay sendable; a draft is checked when it is scheduled. */
async function checkIfScheduled(
  context: Context,
  { status, workspace_id, id }: Broadcast,
  content: BroadcastContent,
): Promise<boolean> {
  if (status !== 'scheduled' && status !== 'paused') return false;
  await checkSendable(context, { workspace_id, ...content });
  await checkNotOpenedOf(context, { workspace_id, id, ...content }, 'schedule');
  return true;
}
