import { fromJson } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import type { WelcomingList } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { isFinal } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { bulkWorkMaxMs } from '#lib/jobs/jobs.ts';
import type { Context } from '../context.ts';
import type { AddressedId } from '../delivery/ask-consent.ts';
import { askWelcomes } from '../delivery/ask-welcomes.ts';
import { failRound, restAt, roundMax } from '../delivery/list-round.ts';
import { type BatchResult, sendAll } from '../delivery/send-all.ts';
import { noFeeds } from '../plans/feeds.ts';
import {
  addWelcoming,
  type DueWelcome,
  dropWelcomes,
  dropWelcomesOf,
  openWelcomes,
  readDueWelcomes,
  settleWelcomes,
  type WelcomeQueue,
} from '../record/welcomes.ts';
import { noProvider } from '../transactional/no-provider.ts';
import type { Sendable } from '../transactional/notifications.ts';
import { planKeyOf } from '../transactional/plan.ts';

const dropMax = 1_000;
/** Other lists of the workspace wait meanwhile; what is left waits for the next job. */
const workMaxMs = 10_000;
/** Nothing was begun and nobody says why, as while all mail is on hold. */
const idleWaitMs = 5_000;

type Round = { due: readonly DueWelcome[]; stop: AbortSignal };

/** Sends the due welcomes of a list, of imports as bulk mail. Contacts who have left get none. */
export function sendWelcomes(context: Context) {
  return async (payload: unknown): Promise<void> => {
    const queue = payload as WelcomeQueue;
    const stop = AbortSignal.timeout(queue.isImport ? bulkWorkMaxMs : workMaxMs);
    for (;;) {
      const due = await readDueWelcomes(context.store, queue, roundMax);
      if (due.length === 0) return;
      const notBefore = await sendRound(context, queue, { due, stop });
      if (notBefore === undefined && !stop.aborted) continue;
      const at = new Date(notBefore ?? Date.now());
      await context.store.fork().transactional((em) => addWelcoming(em, queue, at));
      return;
    }
  };
}

/** Gives when the rest may be tried, in Unix milliseconds; undefined if at once. */
async function sendRound(
  context: Context,
  key: WelcomeQueue,
  round: Round,
): Promise<number | undefined> {
  const { workspaceId, listId } = key;
  const { lists, at } = await askWelcomes(context, workspaceId, [listId]);
  const list = lists.get(listId);
  if (!list) {
    const dropped = await dropWelcomes(context.store, key, { at, most: dropMax });
    return dropped > 0 ? undefined : Date.now() + idleWaitMs;
  }
  const { notificationId } = list;
  const known = await context.transactional.notifications.find(workspaceId, [notificationId]);
  const sendable = known.get(notificationId);
  const { due } = round;
  await openWelcomes(context.store, key, { notificationId, tags: sendable?.tags ?? [], due });
  try {
    if (!sendable) throw refusal('NOTIFICATION_NOT_FOUND', 'Notification not found');
    const sent = await sendTo(context, key, { list, sendable, round });
    await settleWelcomes(context.store, key, { due, ended: sent.fates });
    return restAt(sent) ?? (sent.fates.size > 0 ? undefined : Date.now() + idleWaitMs);
  } catch (error) {
    if (!isFinal(error)) throw error;
    const info = `the welcome cannot be sent: ${error.rawMessage}`.slice(0, 255);
    const given = { open: due.map(addressed), who: {}, info, forget: dropWelcomesOf };
    const ended = await failRound(context, key, given);
    await settleWelcomes(context.store, key, { due, ended });
    return undefined;
  }
}

const addressed = ({ id, email }: DueWelcome): AddressedId => [id, email];

async function sendTo(
  context: Context,
  { workspaceId, listId, isImport }: WelcomeQueue,
  {
    list: { name, notificationId },
    sendable,
    round: { due, stop },
  }: { list: WelcomingList; sendable: Sendable; round: Round },
): Promise<BatchResult> {
  const integrationId = sendable.integrationId || (await ofSettings(context, workspaceId));
  const { templateId, utm, isTracked, tags } = sendable;
  const kind = { workspaceId, notificationId, integrationId, utm, isTracked };
  const planKey = planKeyOf({ ...kind, templateId, templateVersion: 0 });
  const list = { id: listId, name };
  const about = { ...planKey.about, list, canBeLeft: true, values: { list } };
  const plan = await context.plans.get({ ...planKey, about });
  const { templateVersion } = plan;
  const template = { templateId, templateVersion, integrationId };
  return sendAll(context, {
    group: { workspaceId, broadcastId: null, listId, ...template, isByHand: false, tags },
    plan,
    open: due.map(addressed),
    areNew: false,
    who: {},
    activeSince: new Map(
      due.map(({ email, activeSince }) => [email, fromJson(TimestampSchema, activeSince)]),
    ),
    fields: plan.fields,
    feeds: noFeeds,
    isUrgent: !isImport,
    stop,
  });
}

async function ofSettings({ plans }: Context, workspaceId: string): Promise<string> {
  const { settings } = await plans.settings(workspaceId);
  const integrationId = settings?.transactionalEmailProviderId ?? '';
  if (integrationId === '') throw noProvider();
  return integrationId;
}
