import { Code, ConnectError } from '@connectrpc/connect';
import { refusal } from '#lib/errors/reasons.ts';
import type { Context } from '../context.ts';
import { type AddressedId, resolve } from '../delivery/ask-consent.ts';
import { type BatchResult, sendAll } from '../delivery/send-all.ts';
import { confirmationContent, confirmationFields } from '../plans/confirmation.ts';
import { noFeeds } from '../plans/feeds.ts';
import type { CompiledPlan } from '../plans/plans.ts';
import type { ClaimGroup } from '../record/claims.ts';
import {
  addSending,
  failDue,
  forgetRequests,
  type ListKey,
  readDue,
  readNextDue,
} from '../record/confirmations.ts';

const roundMax = 200;
/** Other lists of the workspace wait meanwhile; messages that are left wait for the next job. */
const workMaxMs = 20_000;
const outageWaitMs = 60_000;
/** The skip reason of addresses that contacts no longer has. */
const removed = 'removed';

/** Sends the due confirmation mails of a list. Contacts that are no longer pending get none. */
export function sendConfirmations(context: Context) {
  return async (payload: unknown): Promise<void> => {
    const key = payload as ListKey;
    const stop = AbortSignal.timeout(workMaxMs);
    let notBefore: number | undefined;
    for (;;) {
      const open = await readDue(context.store, key, roundMax);
      if (open.length === 0 || notBefore !== undefined || stop.aborted) break;
      notBefore = await sendRound(context, key, open, stop);
    }
    await context.store.fork().transactional(async (em) => {
      const dueAt = await readNextDue(em, key);
      if (!dueAt) return;
      await addSending(em, key, new Date(Math.max(dueAt.getTime(), notBefore ?? 0)));
    });
  };
}

/** When the rest may be tried, in Unix milliseconds; undefined if at once. */
function restAt({ outage, retryAfterMs }: BatchResult): number | undefined {
  if (outage) return outage.endsAt?.getTime() ?? Date.now() + outageWaitMs;
  return retryAfterMs > 0 ? Date.now() + retryAfterMs : undefined;
}

async function sendRound(
  context: Context,
  key: ListKey,
  open: [id: string, email: string][],
  stop: AbortSignal,
): Promise<number | undefined> {
  try {
    const { plan, group } = await planOf(context, key);
    const sent = await sendAll(context, {
      group,
      plan,
      open,
      areNew: false,
      who: { forConfirmation: true },
      fields: plan.fields.filter((field) => confirmationFields.includes(field)),
      feeds: noFeeds,
      isUrgent: true,
      stop,
    });
    const isRemoved = (id: string) => sent.fates.get(id)?.info === removed;
    const emails = open.filter(([id]) => isRemoved(id)).map(([, email]) => email);
    await forgetRequests(context.store.fork(), key, emails);
    return restAt(sent);
  } catch (error) {
    if (!isFinal(error)) throw error;
    await failRound(context, key, open, error.rawMessage);
    return undefined;
  }
}

/**
 * Of contacts that are no longer there nothing may be left: their deletion may have come before the
 * request.
 */
async function failRound(
  context: Context,
  key: ListKey,
  open: readonly AddressedId[],
  info: string,
): Promise<void> {
  const { workspaceId, listId } = key;
  const given = { group: { workspaceId, listId }, who: { forConfirmation: true }, fields: [] };
  const { claimants } = await resolve(context, given, open);
  const gone = claimants.filter(({ skipReason }) => skipReason === removed);
  const emails = gone.map(({ email }) => email);
  await context.store.fork().transactional(async (em) => {
    await failDue(em, workspaceId, { ids: open.map(([id]) => id), info, removed: emails });
    await forgetRequests(em, key, emails);
  });
}

/**
 * Errors that the workspace's owner has to fix. They are not retried: a person who still wants to
 * subscribe asks again.
 */
function isFinal(error: unknown): error is ConnectError {
  const final: Code[] = [Code.InvalidArgument, Code.NotFound, Code.FailedPrecondition];
  return error instanceof ConnectError && final.includes(error.code);
}

async function planOf(
  { plans, contacts }: Context,
  { workspaceId, listId }: ListKey,
): Promise<{ plan: CompiledPlan; group: ClaimGroup }> {
  const [{ settings }, { list }] = await Promise.all([
    plans.settings(workspaceId),
    contacts.getList({ workspaceId, id: listId }),
  ]);
  const integrationId = settings?.marketingEmailProviderId ?? '';
  if (integrationId === '') {
    throw refusal(
      'NO_EMAIL_PROVIDER',
      'the workspace has no marketing email provider: set settings.marketing_email_provider_id by workspaces.update',
    );
  }
  const templateId = list?.doubleOptinTemplate?.id ?? '';
  const plan = await plans.get({
    workspaceId,
    templateId,
    templateVersion: 0,
    integrationId,
    content: templateId === '' ? confirmationContent : undefined,
    about: {
      feedbackId: [listId, workspaceId, 'confirmation'],
      utm: {},
      // Recipients have not agreed to tracking yet.
      isTracked: false,
      values: { list: { id: listId, name: list?.name ?? '' } },
    },
  });
  const { templateVersion } = plan;
  const group = {
    workspaceId,
    broadcastId: null,
    listId,
    templateId,
    templateVersion,
    integrationId,
    isByHand: false,
  };
  return { plan, group };
}
