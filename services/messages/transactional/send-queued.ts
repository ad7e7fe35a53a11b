import { isFinal } from '#lib/errors/errors.ts';
import { reasonOf } from '#lib/errors/reasons.ts';
import { type BatchResult, sendAll } from '../delivery/send-all.ts';
import { triedFor } from '../message.ts';
import { integrationOfContent } from '../plans/content-integration.ts';
import { noFeeds } from '../plans/feeds.ts';
import type { CompiledPlan } from '../plans/plans.ts';
import { bindQueued } from '../record/integrations.ts';
import { noteHeld } from '../record/note-held.ts';
import {
  claimQueued,
  failOverdue,
  failQueued,
  lookAgain,
  type QueuedMessage,
  storeRequest,
} from '../record/queue.ts';
import { findSuppressed, readBodies, readFiles } from '../record/requests.ts';
import {
  extrasOf,
  type MailBody,
  mailFile,
  openBody,
  openRequest,
  ownExtras,
  type RequestContent,
  type StoredFile,
  sealRequest,
} from './content.ts';
import { fieldsOf, groupOf, planKeyOf } from './plan.ts';
import type { SendNowContext } from './send-now.ts';

/** Messages that are on their way after this go on without the queue's runner. */
const workMaxMs = 20_000;
/** As long as the longest wait after an outage. */
const heldMs = 60_000;
/** A message that is held has more than a day without this process, whatever comes. */
const renewMs = 60 * 60 * 1000;
const fileBytesMax = 32 * 1024 * 1024;
/** Long enough for a service that restarts, short enough for a person who waits. */
const failedWaitMs = 5_000;

type OpenedMessage = {
  queued: QueuedMessage;
  content: RequestContent;
  files: readonly StoredFile[];
};

/** Messages that were not begun, and when to go on with them. */
type Unbegun = { count: number; afterMs: number };

/** Sends messages that were taken from the queue. */
export async function sendQueued(
  context: SendNowContext,
  workspaceId: string,
  taken: readonly QueuedMessage[],
): Promise<Unbegun> {
  const read = await readAll(context, workspaceId, taken);
  const left: Unbegun = { count: 0, afterMs: 0 };
  for (const [, some] of Map.groupBy(read, kindOf)) {
    for (const portion of portionsOf(some)) {
      const { count, afterMs } = await sendOrDelay(context, workspaceId, portion);
      left.count += count;
      left.afterMs = Math.max(left.afterMs, afterMs);
    }
  }
  return left;
}

/**
 * A portion that cannot be sent for a reason that may pass waits, and the others do not wait for
 * it.
 */
async function sendOrDelay(
  context: SendNowContext,
  workspaceId: string,
  portion: readonly OpenedMessage[],
): Promise<Unbegun> {
  try {
    return await sendPortion(context, workspaceId, portion);
  } catch (err) {
    context.log.warn({ err, workspaceId }, 'waiting messages of one kind were not sent');
    const ids = portion.map(({ queued }) => queued.id);
    const unbegun = ids.filter((id) => !context.underway.get(id));
    await lookAgain(context.store, workspaceId, { ids: unbegun, afterMs: failedWaitMs });
    return { count: 0, afterMs: 0 };
  }
}

/**
 * Opens the requests. A message whose request cannot be opened fails.
 */
async function readAll(
  context: SendNowContext,
  workspaceId: string,
  taken: readonly QueuedMessage[],
): Promise<OpenedMessage[]> {
  const read: OpenedMessage[] = [];
  for (const queued of taken) {
    const { id } = queued;
    let content: RequestContent;
    try {
      content = await openRequest(context.keyring, { workspaceId, id }, queued.request);
    } catch {
      await failQueued(context.store, workspaceId, {
        ids: [id],
        info: 'its request cannot be read',
      });
      continue;
    }
    read.push({ queued, content, files: queued.attachments as StoredFile[] });
  }
  return read;
}

/**
 * Fails the messages of a portion that have waited for as long as they are tried; gives the others.
 * Where mail is delivered directly, a message with an expiry of its own is tried until then.
 */
async function failOld(
  context: SendNowContext,
  workspaceId: string,
  portion: readonly OpenedMessage[],
  { transport: { isDirect } }: Pick<CompiledPlan, 'transport'>,
): Promise<OpenedMessage[]> {
  const keptMs = triedFor(isDirect);
  const isOld = (each: OpenedMessage) =>
    ageMs(context, each) > keptMs && !(isDirect && each.queued.expiresAt);
  const [old, young] = [portion.filter(isOld), portion.filter((each) => !isOld(each))];
  const outage = context.outages.reasonOf(workspaceId, portion[0]?.queued.integrationId ?? '');
  const info = `not sent within ${isDirect ? '5 days' : 'a day'}`;
  const ids = old.map(({ queued }) => queued.id);
  if (ids.length > 0) await failOverdue(context.store, workspaceId, { ids, info, outage });
  return young;
}

/**
 * Has messages of a held domain wait, and others of the workspace go on. The time in which they are
 * tried begins anew with each hour: it is not theirs to lose.
 */
async function hold(
  context: SendNowContext,
  workspaceId: string,
  { portion, reason }: { portion: readonly OpenedMessage[]; reason: string },
): Promise<Unbegun> {
  const { store, keyring, now } = context;
  const ids = portion.map(({ queued }) => queued.id);
  await noteHeld(store, workspaceId, { ids, reason });
  for (const each of portion.filter((each) => ageMs(context, each) > renewMs)) {
    const key = { workspaceId, id: each.queued.id };
    const content = { ...each.content, send_at: now().toISOString() };
    await storeRequest(store, key, sealRequest(keyring, key, content));
  }
  await lookAgain(store, workspaceId, { ids, afterMs: heldMs });
  return { count: 0, afterMs: 0 };
}

const ageMs = ({ now }: SendNowContext, each: OpenedMessage) =>
  now().getTime() - sinceOf(each).getTime();

/** When the time began in which a message is tried: when it was to be sent, or was retried. */
function sinceOf({ queued, content }: Pick<OpenedMessage, 'queued' | 'content'>): Date {
  return content.send_at ? new Date(content.send_at) : queued.createdAt;
}

function kindOf({ queued, content }: OpenedMessage): string {
  const { listId, notificationId, templateId, templateVersion, integrationId } = queued;
  const { utm, is_tracked, send_to_bounced } = content;
  const own = content.kind && content.content;
  return JSON.stringify([
    listId,
    notificationId,
    templateId,
    templateVersion,
    integrationId,
    utm,
    is_tracked,
    send_to_bounced,
    own && [content.kind, own.from_email, own.use_liquid],
  ]);
}

/** Parts whose files and bodies fit into memory. */
function portionsOf(read: readonly OpenedMessage[]): OpenedMessage[][] {
  const portions: OpenedMessage[][] = [[]];
  let bytes = 0;
  for (const each of read) {
    const bodyBytes = each.content.kind ? each.content.content.body_bytes : 0;
    const size = each.files.reduce((sum, { size_bytes }) => sum + size_bytes, bodyBytes);
    bytes += size;
    if (bytes > fileBytesMax && portions.at(-1)?.length !== 0) {
      portions.push([]);
      bytes = size;
    }
    portions.at(-1)?.push(each);
  }
  return portions;
}

/** Sends messages of one kind. Messages that are not begun are looked at again later. */
async function sendPortion(
  context: SendNowContext,
  workspaceId: string,
  portion: readonly OpenedMessage[],
): Promise<Unbegun> {
  const [first] = portion;
  if (!first) return { count: 0, afterMs: 0 };
  const { integrationId } = first.queued;
  const ids = portion.map(({ queued }) => queued.id);
  try {
    const plan = await planOf(context, workspaceId, first);
    const { heldBecause: reason } = plan;
    if (reason !== '') return await hold(context, workspaceId, { portion, reason });
    const young = await failOld(context, workspaceId, portion, plan);
    if (young.length === 0) return { count: 0, afterMs: 0 };
    const { fates, outage, retryAfterMs } = await sendGroup(context, workspaceId, young, plan);
    const open = young.map(({ queued }) => queued.id);
    const unbegun = open.filter((id) => !fates.has(id) && !context.underway.get(id));
    const afterMs = outage
      ? context.outages.began(workspaceId, integrationId, outage)
      : retryAfterMs;
    return later(context, workspaceId, { ids: unbegun, afterMs });
  } catch (error) {
    if (reasonOf(error) === 'INTEGRATION_NOT_FOUND') {
      const moved = await moveToOther(context, workspaceId, portion);
      if (moved) return sendPortion(context, workspaceId, moved);
    }
    if (!isFinal(error)) throw error;
    const what = first.content.kind ? 'the mail' : 'the notification';
    const info = `${what} cannot be sent: ${error.rawMessage}`.slice(0, 255);
    await failQueued(context.store, workspaceId, { ids, info });
    return { count: 0, afterMs: 0 };
  }
}

/**
 * The integration is gone: the messages go on through another one. Undefined where there is none.
 */
async function moveToOther(
  { store, plans }: SendNowContext,
  workspaceId: string,
  portion: readonly OpenedMessage[],
): Promise<OpenedMessage[] | undefined> {
  // Settings and senders that are kept may still name the one that is gone.
  plans.refresh(workspaceId);
  const content = portion[0]?.content;
  const senderEmail = content?.kind ? content.content.from_email : '';
  const integrationId = await otherIntegration(plans, workspaceId, senderEmail);
  const isOther = portion.every(({ queued }) => queued.integrationId !== integrationId);
  if (integrationId === '' || !isOther) return undefined;
  await bindQueued(store, workspaceId, {
    ids: portion.map(({ queued }) => queued.id),
    integrationId,
  });
  return portion.map((read) => ({ ...read, queued: { ...read.queued, integrationId } }));
}

/** That of the settings, unless a sender is wanted that another one has. */
async function otherIntegration(
  plans: SendNowContext['plans'],
  workspaceId: string,
  senderEmail: string,
): Promise<string> {
  const { settings } = await plans.settings(workspaceId);
  const ofSettings = settings?.transactionalEmailProviderId ?? '';
  if (senderEmail === '') return ofSettings;
  const found = await integrationOfContent(plans, workspaceId, {
    named: '',
    ofSettings,
    senderEmail,
    providerOf: (id) =>
      plans.providerOf(workspaceId, id).catch((error: unknown) => {
        if (reasonOf(error) === 'INTEGRATION_NOT_FOUND') return undefined;
        throw error;
      }),
  });
  return found ?? ofSettings;
}

async function later(
  context: SendNowContext,
  workspaceId: string,
  { ids, afterMs }: { ids: readonly string[]; afterMs: number },
): Promise<Unbegun> {
  await lookAgain(context.store, workspaceId, { ids, afterMs });
  return { count: ids.length, afterMs };
}

function planOf(
  { plans }: SendNowContext,
  workspaceId: string,
  { queued, content }: OpenedMessage,
): Promise<CompiledPlan> {
  const { notificationId, templateId, templateVersion, integrationId } = queued;
  const { utm, is_tracked: isTracked } = content;
  const senderEmail = content.kind ? content.content.from_email : undefined;
  const kind = { workspaceId, integrationId, notificationId, templateId, templateVersion };
  return plans.get(planKeyOf({ ...kind, utm, isTracked, senderEmail }));
}

async function sendGroup(
  context: SendNowContext,
  workspaceId: string,
  portion: readonly OpenedMessage[],
  plan: CompiledPlan,
): Promise<BatchResult> {
  const { store, owner } = context;
  const first = portion[0] as OpenedMessage;
  const { listId, templateId, templateVersion, integrationId } = first.queued;
  const { send_to_bounced: sendToBounced } = first.content;
  const usesLiquid = first.content.kind !== undefined && first.content.content.use_liquid;
  const kind = { workspaceId, listId, templateId, templateVersion, integrationId };
  const extras = await allExtras(context, workspaceId, { portion, sendToBounced });
  const since = new Map(portion.map((each) => [each.queued.id, sinceOf(each)]));
  return sendAll(context, {
    group: groupOf(kind),
    plan,
    open: portion.flatMap(({ queued: { id, email } }) => (extras.has(id) ? [[id, email]] : [])),
    areNew: false,
    // A list has members, who may have left; other mail goes to any address.
    who: listId === null ? { byHand: true } : {},
    fields: fieldsOf(plan, usesLiquid),
    feeds: noFeeds,
    extras,
    claim: async (claimants) => {
      const claimed = await claimQueued(
        store,
        { workspaceId, owner },
        {
          ids: claimants.map(({ id }) => id),
          sendToBounced,
          ...(listId !== null && { refusals: claimants.map(({ skipReason }) => skipReason) }),
        },
      );
      return claimed.map((message) => ({
        ...message,
        createdAt: since.get(message.id) ?? message.createdAt,
      }));
    },
    isUrgent: true,
    waitsOutOutages: true,
    stop: AbortSignal.any([context.closing, AbortSignal.timeout(workMaxMs)]),
  });
}

/** By id. A message whose files or body are gone fails, and is left out. */
async function allExtras(
  context: SendNowContext,
  workspaceId: string,
  { portion, sendToBounced }: { portion: readonly OpenedMessage[]; sendToBounced: boolean },
) {
  const copies = portion.flatMap(({ content: { options } }) => [
    ...(options.cc ?? []),
    ...(options.bcc ?? []),
  ]);
  const known =
    copies.length > 0 ? await findSuppressed(context.store, workspaceId, copies) : new Map();
  const dropped = new Set(
    sendToBounced ? [] : copies.filter((email) => known.get(email) === 'bounced'),
  );
  const withFiles = portion.filter(({ files }) => files.length > 0);
  const contents = await readFiles(
    context.store,
    workspaceId,
    withFiles.map(({ queued }) => queued.id),
  );
  const ids = withFiles.flatMap(({ queued: { id }, files }) =>
    contents.get(id)?.length === files.length ? [] : [id],
  );
  if (ids.length > 0) {
    await failQueued(context.store, workspaceId, { ids, info: 'its attachments are gone' });
  }
  const bodies = await openBodies(context, workspaceId, portion);
  const gone = new Set(ids);
  const whole = portion.filter(
    ({ queued: { id }, content }) => !gone.has(id) && (!content.kind || bodies.has(id)),
  );
  return new Map(
    whole.map(({ queued: { id, expiresAt }, content, files }) => {
      const own = contents.get(id) ?? [];
      const mailFiles = files.flatMap((file, place) => {
        const bytes = own[place];
        return bytes ? [mailFile(file, bytes)] : [];
      });
      const expiresAtMs = expiresAt?.getTime();
      const given = { files: mailFiles, dropped };
      const extras = content.kind
        ? ownExtras(content, bodies.get(id) ?? {}, given)
        : extrasOf(content, given);
      return [id, { ...extras, expiresAtMs }] as const;
    }),
  );
}

/** By id. A message whose body is gone, or cannot be opened, fails. */
async function openBodies(
  { store, keyring }: SendNowContext,
  workspaceId: string,
  portion: readonly OpenedMessage[],
): Promise<Map<string, MailBody>> {
  const kinds = new Map(
    portion.flatMap(({ queued: { id }, content: { kind } }) => (kind ? [[id, kind] as const] : [])),
  );
  const ids = [...kinds.keys()];
  const opened = new Map<string, MailBody>();
  for (const [id, sealed] of await readBodies(store, workspaceId, ids)) {
    const kind = kinds.get(id) ?? 'content';
    const body = await openBody(keyring, { workspaceId, id }, { sealed, kind }).catch(
      () => undefined,
    );
    if (body) opened.set(id, body);
  }
  const lost = ids.filter((id) => !opened.has(id));
  if (lost.length > 0) {
    await failQueued(store, workspaceId, { ids: lost, info: 'its content cannot be read' });
  }
  return opened;
}
