import type { ConnectRouter } from '@connectrpc/connect';
import { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import type { Context } from './context.ts';
import { cancel } from './operations/cancel-broadcast.ts';
import { create } from './operations/create-broadcast.ts';
import { deleteBroadcast } from './operations/delete-broadcast.ts';
import { get } from './operations/get-broadcast.ts';
import { getTestResults } from './operations/get-test-results.ts';
import { list } from './operations/list-broadcasts.ts';
import { pause } from './operations/pause-broadcast.ts';
import { refreshGlobalFeed } from './operations/refresh-global-feed.ts';
import { resume } from './operations/resume-broadcast.ts';
import { schedule } from './operations/schedule-broadcast.ts';
import { selectWinner } from './operations/select-winner.ts';
import { sendToIndividual } from './operations/send-to-individual.ts';
import { testRecipientFeed } from './operations/test-recipient-feed.ts';
import { update } from './operations/update-broadcast.ts';

export const services = [BroadcastService];

/** Broadcasts and their states, the frozen audience and its slices. What takes long is the workflow's. */
export function broadcastsRoutes(context: Context) {
  return (router: ConnectRouter): void => {
    router.service(BroadcastService, {
      listBroadcasts: list(context),
      getBroadcast: get(context),
      createBroadcast: create(context),
      updateBroadcast: update(context),
      refreshGlobalFeed: refreshGlobalFeed(context),
      testRecipientFeed: testRecipientFeed(context),
      sendToIndividual: sendToIndividual(context),
      scheduleBroadcast: schedule(context),
      pauseBroadcast: pause(context),
      resumeBroadcast: resume(context),
      cancelBroadcast: cancel(context),
      selectWinner: selectWinner(context),
      getTestResults: getTestResults(context),
      deleteBroadcast: deleteBroadcast(context),
    });
  };
}
