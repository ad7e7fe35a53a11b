import { isFinal } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { Context } from '../context.ts';
import { failRound, removed, restAt, roundMax } from '../delivery/list-round.ts';
import { sendAll } from '../delivery/send-all.ts';
import { confirmationContent, confirmationFields } from '../plans/confirmation.ts';
import { noFeeds } from '../plans/feeds.ts';
import type { CompiledPlan } from '../plans/plans.ts';
import type { ClaimGroup } from '../record/claims.ts';
import {
  addSending,
  forgetRequests,
  type ListKey,
  readDue,
  readNextDue,
} from '../record/confirmations.ts';

/** Other lists of the workspace wait meanwhile; messages that are left wait for the next job. */
const workMaxMs = 20_000;

const who = { forConfirmation: true };

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
      who,
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
    const given = { open, who, info: error.rawMessage, forget: forgetRequests };
    await failRound(context, key, given);
    return undefined;
  }
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
