import { randomBytes } from 'node:crypto';
import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { ReturnPaths } from '#lib/keys/return-path.ts';
import { sendIndividually } from '../delivery/individual.ts';
import type { SendContext } from '../delivery/send-all.ts';
import { asciiDomain, domainOf } from '../mime/headers.ts';
import { noFeeds } from '../plans/feeds.ts';
import type { Plans } from '../plans/plans.ts';
import { markHeader, testContent, testTemplateId } from './mail.ts';
import { addTest, type NewTest, noteNotSent } from './store.ts';

type TestContext = SendContext & { plans: Plans; returnPaths: ReturnPaths | undefined };

const markBytes = 16;
/** The error itself may name addresses. */
const callFailed = 'the call failed, and the mail may not have been sent';

type TestRequest = {
  workspaceId: string;
  name: string;
  /** Empty for the one of the settings that has a sender in the domain. */
  integrationId: string;
};

/**
 * Sends a test mail from a domain to an address of `inbound`. Gives the id of the test, which says
 * why a mail was not sent.
 */
export async function sendTest(
  context: TestContext,
  request: TestRequest,
  stop: AbortSignal,
): Promise<string> {
  const { returnPaths, store } = context;
  const { workspaceId } = request;
  const domain = domainOf(`@${request.name}`);
  const found = await senderIn(context.plans, { ...request, name: domain });
  if (!returnPaths) {
    throw refusal(
      'RETURNED_MAIL_OFF',
      'the installation takes no mail back: its operator sets BOUNCE_DOMAIN',
    );
  }
  const [id, messageId] = [crypto.randomUUID(), crypto.randomUUID()];
  const mark = randomBytes(markBytes).toString('hex');
  const test = { workspaceId, id, domain, ...found, messageId, mark };
  await addTest(store, test);
  const email = returnPaths.ofTest({ workspaceId, testId: id });
  const reason = await sendMail(context, { ...test, email }, stop).catch(async (error: unknown) => {
    await noteNotSent(store, test, callFailed);
    throw error;
  });
  if (reason !== '') await noteNotSent(store, test, reason);
  return id;
}

type Found = { integrationId: string; sender: string; senderId: string };

/** The sender of the workspace in the domain, and its integration. */
async function senderIn(
  plans: Plans,
  { workspaceId, name, integrationId }: TestRequest,
): Promise<Found> {
  for (const candidate of await candidatesOf(plans, { workspaceId, integrationId })) {
    const { senders } = await plans.providerOf(workspaceId, candidate);
    const inDomain = senders.filter(({ email }) => domainOf(email) === name);
    const sender = inDomain.find(({ isDefault }) => isDefault) ?? inDomain[0];
    if (sender) {
      return {
        ...{ integrationId: candidate, senderId: sender.id },
        sender: asciiDomain(sender.email),
      };
    }
  }
  const where =
    integrationId === '' ? 'no integration of the settings has one' : 'the integration has none';
  throw invalidField('name', `name has no sender: ${where} in the domain`);
}

async function candidatesOf(
  plans: Plans,
  { workspaceId, integrationId }: Pick<TestRequest, 'workspaceId' | 'integrationId'>,
): Promise<string[]> {
  if (integrationId !== '') return [integrationId];
  const { settings } = await plans.settings(workspaceId);
  const { marketingEmailProviderId = '', transactionalEmailProviderId = '' } = settings ?? {};
  const ids = new Set([marketingEmailProviderId, transactionalEmailProviderId]);
  ids.delete('');
  if (ids.size === 0) {
    throw refusal(
      'NO_EMAIL_PROVIDER',
      'the workspace has no email provider: set settings.marketing_email_provider_id by workspaces.update',
    );
  }
  return [...ids];
}

/** Why the mail was not sent; empty if it was. */
async function sendMail(
  context: TestContext,
  { workspaceId, domain, messageId, mark, email, ...test }: NewTest & Found & { email: string },
  stop: AbortSignal,
): Promise<string> {
  const { integrationId, senderId } = test;
  const key = {
    ...{ workspaceId, integrationId },
    ...{ templateId: testTemplateId, templateVersion: testContent.version },
  };
  const plan = await context.plans.get({
    ...key,
    content: testContent,
    about: {
      list: { id: `tests.${workspaceId}`, name: '' },
      canBeLeft: true,
      feedbackId: [testTemplateId, workspaceId, 'test'],
      utm: {},
      isTracked: true,
      senderId,
      values: {},
    },
  });
  const { fault } = await sendIndividually(context, {
    id: messageId,
    group: { ...key, broadcastId: null, listId: null, isByHand: true },
    plan: { ...plan, keepsContents: false },
    fields: [],
    feeds: noFeeds,
    email,
    extras: { ...extrasOf(domain, mark), contact: { email } },
    stop,
  });
  return fault?.rawMessage ?? '';
}

const extrasOf = (domain: string, mark: string) => ({
  data: { domain },
  copies: [],
  options: {
    ...{ fromName: '', subject: undefined, previewLine: undefined, replyTo: '', cc: [] },
    ...{ listUnsubscribe: '', headers: [[markHeader, mark] as const], files: [] },
  },
});
