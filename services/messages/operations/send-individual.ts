import { Code, ConnectError } from '@connectrpc/connect';
import type { SendIndividualRequest } from '#gen/postrider/messages/v1/messages_pb.ts';
import { invalidField, retryLater } from '#lib/rpc/errors.ts';
import type { Context, Methods } from '../context.ts';
import type { MessageStatus } from '../message.ts';
import { finishSend, readInfo, scheduleFinish } from '../record/individual-sends.ts';
import { sendAll } from '../sending/batch.ts';
import { broadcastSending } from '../sending/broadcast.ts';
import { withinCall } from '../sending/within-call.ts';

/** The shortest time for which servers greylist. */
const retryMs = 60_000;

export function sendIndividual(context: Context): Methods['sendIndividual'] {
  return (request, call) => withinCall(call, (stop) => send(context, request, stop));
}

async function send(context: Context, request: SendIndividualRequest, stop: AbortSignal) {
  const { workspaceId, recipientEmail } = request;
  const { group, ...sending } = await broadcastSending(context, request);
  const key = { workspaceId, id: crypto.randomUUID() };
  await scheduleFinish(context.store, key);
  const { fates, outage, retryAfterMs } = await sendAll(context, {
    ...sending,
    group: { ...group, isByHand: true },
    open: [[key.id, recipientEmail]],
    areNew: true,
    who: { byHand: true },
    isUrgent: true,
    stop,
  });
  await finishSend(context.store, key);
  if (outage) throw notSent(outage.reason);
  if (retryAfterMs > 0) throw late(retryAfterMs);
  const fault = faultOf(fates.get(key.id)?.status, await readInfo(context.store, key));
  if (fault) throw fault;
  return {};
}

/** The caller's error; undefined if the message was sent. */
function faultOf(status: MessageStatus | undefined, info: string): ConnectError | undefined {
  switch (status) {
    case 'sent':
      return undefined;
    case 'skipped':
      return invalidField('recipient_email', `recipient_email may not be written to: ${info}`);
    case 'failed':
      return notSent(info);
    case 'deferred':
      return retryLater(`the message was put off: ${info}`, Code.Unavailable, retryMs);
    default:
      return late(retryMs);
  }
}

function late(askAgainMs: number): ConnectError {
  return retryLater('the message was not sent in time', Code.Unavailable, askAgainMs);
}

function notSent(reason: string): ConnectError {
  return new ConnectError(`the message was not sent: ${reason}`, Code.FailedPrecondition);
}
