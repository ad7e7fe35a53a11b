import type { ConnectRouter } from '@connectrpc/connect';
import { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { BroadcastPageService } from '#gen/postrider/broadcasts/v1/page_pb.ts';
import { SystemService } from '#gen/postrider/broadcasts/v1/system_pb.ts';
import { IntegrationUseService, WorkspaceDataService } from '#gen/postrider/events/v1/events_pb.ts';
import { countUsage } from '#lib/rpc/server/count-usage.ts';
import { eraseWorkspace } from '#lib/rpc/server/erase-workspace.ts';
import { listIntegrationUses } from '#lib/rpc/server/integration-uses.ts';
import type { Context } from './context.ts';
import { erasedTables } from './kept-data.ts';
import { cancelBroadcast } from './operations/cancel-broadcast.ts';
import { createBroadcast } from './operations/create-broadcast.ts';
import { deleteBroadcast } from './operations/delete-broadcast.ts';
import { duplicateBroadcast } from './operations/duplicate-broadcast.ts';
import { estimateAudience } from './operations/estimate-audience.ts';
import { getBroadcast } from './operations/get-broadcast.ts';
import { getBroadcastPage } from './operations/get-broadcast-page.ts';
import { getHold } from './operations/get-hold.ts';
import { getTestResults } from './operations/get-test-results.ts';
import { listBroadcasts } from './operations/list-broadcasts.ts';
import { pauseBroadcast } from './operations/pause-broadcast.ts';
import { placeHold } from './operations/place-hold.ts';
import { refreshGlobalFeed } from './operations/refresh-global-feed.ts';
import { releaseHold } from './operations/release-hold.ts';
import { resumeBroadcast } from './operations/resume-broadcast.ts';
import { scheduleBroadcast } from './operations/schedule-broadcast.ts';
import { selectWinner } from './operations/select-winner.ts';
import { sendToIndividual } from './operations/send-to-individual.ts';
import { testRecipientFeed } from './operations/test-recipient-feed.ts';
import { updateBroadcast } from './operations/update-broadcast.ts';
import { boundToIntegration } from './plan/provider.ts';

export const services = [
  BroadcastService,
  BroadcastPageService,
  SystemService,
  WorkspaceDataService,
  IntegrationUseService,
];

/**
 * Broadcasts and their states, the frozen audience and its slices. Long work is done by the
 * workflow.
 */
export function broadcastsRoutes(context: Context) {
  return (router: ConnectRouter): void => {
    router.service(BroadcastService, {
      listBroadcasts: listBroadcasts(context),
      getBroadcast: getBroadcast(context),
      estimateAudience: estimateAudience(context),
      createBroadcast: createBroadcast(context),
      updateBroadcast: updateBroadcast(context),
      refreshGlobalFeed: refreshGlobalFeed(context),
      testRecipientFeed: testRecipientFeed(context),
      sendToIndividual: sendToIndividual(context),
      scheduleBroadcast: scheduleBroadcast(context),
      pauseBroadcast: pauseBroadcast(context),
      resumeBroadcast: resumeBroadcast(context),
      cancelBroadcast: cancelBroadcast(context),
      selectWinner: selectWinner(context),
      getTestResults: getTestResults(context),
      deleteBroadcast: deleteBroadcast(context),
      duplicateBroadcast: duplicateBroadcast(context),
    });
    router.service(SystemService, {
      getHold: getHold(context),
      placeHold: placeHold(context),
      releaseHold: releaseHold(context),
    });
    router.service(BroadcastPageService, { getBroadcastPage: getBroadcastPage(context) });
    router.service(WorkspaceDataService, {
      eraseWorkspace: eraseWorkspace(context.store, erasedTables(context.store)),
      countUsage: countUsage(context.quotas),
    });
    router.service(IntegrationUseService, {
      listIntegrationUses: listIntegrationUses(context.store, boundToIntegration),
    });
  };
}
