import type { ConnectRouter } from '@connectrpc/connect';
import { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import type { Context } from './context.ts';
import { cancel } from './operations/cancel.ts';
import { create } from './operations/create.ts';
import { deleteBroadcast } from './operations/delete.ts';
import { get } from './operations/get.ts';
import { getTestResults } from './operations/get-test-results.ts';
import { list } from './operations/list.ts';
import { pause } from './operations/pause.ts';
import { refreshGlobalFeed } from './operations/refresh-global-feed.ts';
import { resume } from './operations/resume.ts';
import { schedule } from './operations/schedule.ts';
import { selectWinner } from './operations/select-winner.ts';
import { sendToIndividual } from './operations/send-to-individual.ts';
import { testRecipientFeed } from './operations/test-recipient-feed.ts';
import { update } from './operations/update.ts';

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
