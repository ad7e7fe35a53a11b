import type { JsonObject } from '@bufbuild/protobuf';
import type { TestTemplateRequest } from '#gen/postrider/messages/v1/transactional_pb.ts';
import { canonicalAddress } from '#lib/address.ts';
import { invalidField, isFinal } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { Context, Methods } from '../context.ts';
import { sendIndividually } from '../delivery/individual.ts';
import { withinCall } from '../delivery/within-call.ts';
import { noFeeds } from '../plans/feeds.ts';
import { extrasOf, mailFile, type StoredOptions } from '../transactional/content.ts';
import { type CheckedFile, checkFiles } from '../transactional/files.ts';
import { checkOptions } from '../transactional/input.ts';

export function testTemplate(context: Context): Methods['testTemplate'] {
  return async (request, call) => {
    const email = canonicalAddress(request.recipientEmail);
    if (!email) throw invalidField('recipient_email', 'invalid recipient_email format');
    const options = checkOptions(request.emailOptions, 'email_options');
    const files = checkFiles(request.emailOptions?.attachments ?? [], 'email_options.attachments');
    const given = { request, email, options, files };
    try {
      const { id, fault } = await withinCall(call, (stop) => send(context, given, stop));
      if (!fault) return { success: true, messageId: id };
      return { success: false, error: fault.rawMessage, messageId: id };
    } catch (error) {
      if (!isFinal(error)) throw error;
      return { success: false, error: error.rawMessage };
    }
  };
}

type TestMail = {
  request: TestTemplateRequest;
  email: string;
  options: StoredOptions;
  files: readonly CheckedFile[];
};

async function send(
  context: Context,
  { request, email, options, files }: TestMail,
  stop: AbortSignal,
) {
  const { workspaceId, templateId, integrationId, senderId, language } = request;
  const { version, testData } = await readTemplate(context, request);
  const plan = await context.plans.get({
    workspaceId,
    templateId,
    templateVersion: version,
    integrationId,
    about: {
      feedbackId: [templateId, workspaceId, 'test'],
      utm: {},
      isTracked: true,
      hasOwnPreviewLine: true,
      senderId,
      values: {},
    },
  });
  const mailFiles = files.map(({ stored, content }) => mailFile(stored, content));
  const { contact: given } = testData;
  const contact = given && typeof given === 'object' && !Array.isArray(given) ? given : {};
  return sendIndividually(context, {
    group: {
      workspaceId,
      broadcastId: null,
      listId: null,
      templateId,
      templateVersion: version,
      integrationId,
      isByHand: true,
    },
    plan,
    fields: [],
    feeds: noFeeds,
    email,
    extras: {
      ...extrasOf({ data: testData, options }, { files: mailFiles, dropped: new Set() }),
      contact: { ...contact, email, ...(language !== '' && { language }) },
    },
    stop,
  });
}

async function readTemplate(
  { templates }: Context,
  { workspaceId, templateId: id }: TestTemplateRequest,
): Promise<{ version: number; testData: JsonObject }> {
  const { found } = await templates.batchGetTemplates({ workspaceId, keys: [{ id, version: 0 }] });
  const template = found[0]?.template;
  if (!template) {
    throw refusal('TEMPLATE_NOT_FOUND', 'failed to retrieve template: template not found');
  }
  return { version: template.version, testData: template.testData ?? {} };
}
