import { Code, type ConnectError } from '@connectrpc/connect';
import { invalidField, retryLater } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { MessageStatus } from '../message.ts';
import { finishSend, readInfo, scheduleFinish } from '../record/individual-sends.ts';
import type { Extras } from './delivery-run.ts';
import { type BatchInput, type SendContext, sendAll } from './send-all.ts';

/** The shortest time for which servers greylist. */
const retryMs = 60_000;

type Individual = Pick<BatchInput, 'group' | 'plan' | 'fields' | 'feeds' | 'stop'> & {
  /** A new one if absent. */
  id?: string;
  email: string;
  extras?: Extras;
};

/**
 * Sends one message that a person asked for, once, under an id of its own. `fault` says why it was
 * not sent.
 */
export async function sendIndividually(
  context: SendContext,
  { id = crypto.randomUUID(), group, email, extras, ...given }: Individual,
): Promise<{ id: string; fault: ConnectError | undefined }> {
  const key = { workspaceId: group.workspaceId, id };
  await scheduleFinish(context.store, key);
  const { fates, outage, retryAfterMs } = await sendAll(context, {
    ...given,
    group: { ...group, isByHand: true },
    ...(extras && { extras: new Map([[id, extras]]) }),
    open: [[id, email]],
    areNew: true,
    who: { byHand: true },
    isUrgent: true,
  });
  await finishSend(context.store, key);
  if (outage) return { id, fault: notSent(outage.reason) };
  if (retryAfterMs > 0) return { id, fault: late(retryAfterMs) };
  return { id, fault: faultOf(fates.get(id)?.status, await readInfo(context.store, key)) };
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
  return refusal('MESSAGE_NOT_SENT', `the message was not sent: ${reason}`);
}
