import type { ConnectRouter } from '@connectrpc/connect';
import {
  BroadcastSendService,
  MessageLinkService,
  MessageService,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Context } from './context.ts';
import { broadcastStats } from './operations/broadcast-stats.ts';
import { list } from './operations/list.ts';
import { sendBatch } from './operations/send-batch.ts';
import { unsubscribeByLink } from './operations/unsubscribe-by-link.ts';

export const services = [MessageService, MessageLinkService, BroadcastSendService];

/** Renders and sends mail, and keeps what became of each message and who may not be written to. */
export function messagesRoutes(context: Context) {
  return (router: ConnectRouter): void => {
    router.service(MessageService, {
      listMessages: list(context),
      getBroadcastStats: broadcastStats(context),
    });
    router.service(MessageLinkService, { unsubscribeByLink: unsubscribeByLink(context) });
    router.service(BroadcastSendService, { sendBatch: sendBatch(context) });
  };
}
