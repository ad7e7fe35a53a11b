import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from '@connectrpc/connect';
import type {
  BroadcastSendService,
  SendBatchRequest,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { type Claimant, type ClaimGroup, claim, readRecorded } from '../claims.ts';
import type { Context } from '../context.ts';
import { deliver, type Fate } from '../delivery.ts';
import { broadcastMessageId } from '../message.ts';
import type { CompiledPlan } from '../plans.ts';
import { returnPermits, takePermits } from '../rate.ts';

/** Time to finish what has begun and to answer. */
const beforeDeadlineMs = 1_000;

type Batch = {
  group: ClaimGroup;
  plan: CompiledPlan;
  claimants: Claimant[];
  contacts: Map<string, Record<string, unknown>>;
  stop: AbortSignal;
  fates: Map<string, Fate>;
};

export function sendBatch(context: Context): ServiceImpl<typeof BroadcastSendService>['sendBatch'] {
  return (request, call) =>
    context.admission.run(async () => {
      const stop = stopSignal(call);
      try {
        return await send(context, request, stop.signal);
      } finally {
        stop.clear();
      }
    });
}

async function send(context: Context, request: SendBatchRequest, stop: AbortSignal) {
  const { workspaceId, broadcastId, plan } = request;
  if (!plan) throw new ConnectError('plan is required', Code.InvalidArgument);
  const compiled = await context.plans.get({ workspaceId, broadcastId, plan });
  const emails = new Map(
    request.emails.map((email) => [broadcastMessageId(workspaceId, broadcastId, email), email]),
  );
  const fates = new Map<string, Fate>(
    await readRecorded(context.store, workspaceId, [...emails.keys()]),
  );
  const open = [...emails].filter(([id]) => !fates.has(id));
  const { templateId, templateVersion, integrationId, listId } = plan;
  const group = { workspaceId, broadcastId, listId, templateId, templateVersion, integrationId };
  const includeUnsubscribed = plan.includeUnsubscribed && !compiled.isMarketing;
  const resolved = await resolve(context, { group, open, includeUnsubscribed, plan: compiled });
  const outage = await sendOpen(context, { ...resolved, group, plan: compiled, stop, fates });
  return answer(emails.size, fates, outage);
}

/** Aborted by the caller, or a second before the deadline. */
function stopSignal(call: HandlerContext): { signal: AbortSignal; clear: () => void } {
  const deadline = new AbortController();
  const leftMs = call.timeoutMs();
  const timer =
    leftMs === undefined
      ? undefined
      : setTimeout(() => deadline.abort(), Math.max(0, leftMs - beforeDeadlineMs));
  return {
    signal: AbortSignal.any([call.signal, deadline.signal]),
    clear: () => clearTimeout(timer),
  };
}

/** Asks right before sending, so that who has left meanwhile gets nothing. */
async function resolve(
  { contacts }: Context,
  given: {
    group: ClaimGroup;
    open: [string, string][];
    includeUnsubscribed: boolean;
    plan: CompiledPlan;
  },
): Promise<Pick<Batch, 'claimants' | 'contacts'>> {
  if (given.open.length === 0) return { claimants: [], contacts: new Map() };
  const { fields } = given.plan.program;
  const { recipients } = await contacts.resolveRecipients({
    workspaceId: given.group.workspaceId,
    listId: given.group.listId,
    includeUnsubscribed: given.includeUnsubscribed,
    emails: given.open.map(([, email]) => email),
    fields,
  });
  const values = new Map<string, Record<string, unknown>>();
  const claimants = given.open.map(([id, email], index) => {
    const recipient = recipients[index];
    if (!recipient) throw new ConnectError('a recipient was not resolved', Code.Unavailable);
    const { skipReason, valuesJson } = recipient;
    if (skipReason === '') values.set(email, contactOf(fields, valuesJson));
    return { id, email, skipReason };
  });
  return { claimants, contacts: values };
}

function contactOf(fields: readonly string[], valuesJson: string): Record<string, unknown> {
  const values: unknown = valuesJson === '' ? [] : JSON.parse(valuesJson);
  return Object.fromEntries(
    fields.map((name, index) => [name, Array.isArray(values) ? values[index] : null]),
  );
}

/** Claims and sends as many at a time as the rate allows, so that nothing waits under its lease for permits. */
async function sendOpen(context: Context, batch: Batch): Promise<string> {
  const { store } = context;
  const { workspaceId, integrationId } = batch.group;
  const rate = { workspaceId, integrationId, perMinute: batch.plan.perMinute };
  const skipped = batch.claimants.filter(({ skipReason }) => skipReason !== '');
  if (skipped.length > 0 && !batch.stop.aborted) await sendClaimed(context, batch, skipped);
  let rest = batch.claimants.filter(({ skipReason }) => skipReason === '');
  while (rest.length > 0) {
    const permits = await takePermits(store, rate, { wanted: rest.length, signal: batch.stop });
    if (permits === 0) return '';
    const { outage, used } = await sendClaimed(context, batch, rest.slice(0, permits));
    await returnPermits(store, rate, permits - used);
    if (outage !== '') return outage;
    rest = rest.slice(permits);
  }
  return '';
}

async function sendClaimed(
  context: Context,
  { group, plan, contacts, stop, fates }: Batch,
  claimants: Claimant[],
): Promise<{ outage: string; used: number }> {
  const claimedAtMs = Date.now();
  const rows = await claim(context.store, context.owner, group, claimants);
  const claimed = rows.filter(({ status }) => status === 'sending');
  for (const row of rows) if (row.status !== 'sending') fates.set(row.id, row);
  if (claimed.length === 0) return { outage: '', used: 0 };
  const delivered = await deliver(context, { group, plan, claimed, contacts, claimedAtMs, stop });
  for (const [id, fate] of delivered.fates) fates.set(id, fate);
  return { outage: delivered.outage, used: claimed.length };
}

function answer(total: number, fates: Map<string, Fate>, outage: string) {
  const counts = { sent: 0, failed: 0, skipped: 0, deferred: 0, sending: 0 };
  let unknown = 0;
  let nextDueAt: Date | undefined;
  for (const { status, unknown: times, dueAt } of fates.values()) {
    counts[status] += 1;
    if (times > 0) unknown += 1;
    if (status === 'deferred' && dueAt && (!nextDueAt || dueAt < nextDueAt)) nextDueAt = dueAt;
  }
  const { sent, failed, skipped, deferred } = counts;
  const due: Timestamp | undefined = nextDueAt && timestampFromDate(nextDueAt);
  const notStarted = total - sent - failed - skipped - deferred;
  return { sent, failed, skipped, deferred, notStarted, unknown, nextDueAt: due, outage };
}
