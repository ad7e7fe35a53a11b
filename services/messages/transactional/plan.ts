import { TemplateCategory, TemplateChannel } from '#gen/postrider/templates/v1/templates_pb.ts';
import { contactFields } from '#lib/liquid/variables.ts';
import type { CompiledPlan, PlanKey } from '../plans/plans.ts';
import type { TemplateContent } from '../plans/variants.ts';

export type TransactionalKind = {
  workspaceId: string;
  notificationId: string;
  templateId: string;
  /** The newest if zero. */
  templateVersion: number;
  integrationId: string;
  utm: Record<string, string>;
  isTracked: boolean;
  /** Set for mails with content of their own; empty for the default sender. */
  senderEmail?: string | undefined;
};

type PlanKeyParts = Pick<
  TransactionalKind,
  'workspaceId' | 'templateId' | 'templateVersion' | 'integrationId'
>;

export function groupOf({
  workspaceId,
  listId = null,
  templateId,
  templateVersion,
  integrationId,
}: PlanKeyParts & { listId?: string | null }) {
  const template = { templateId, templateVersion, integrationId };
  return { workspaceId, broadcastId: null, listId, ...template, isByHand: false };
}

/**
 * The plan of the mails of a notification, or of those with content of their own and one sender.
 */
export function planKeyOf({
  notificationId,
  utm,
  isTracked,
  senderEmail,
  ...key
}: TransactionalKind): PlanKey {
  const isOwn = senderEmail !== undefined;
  const campaign = notificationId === '' ? 'content' : notificationId;
  return {
    ...key,
    ...(isOwn && { content: noTemplate }),
    about: {
      feedbackId: [campaign, key.workspaceId, 'transactional'],
      utm,
      isTracked,
      hasOwnPreviewLine: !isOwn,
      values: {},
      ...(isOwn && { senderEmail }),
    },
  };
}

/**
 * In place of a template: each mail brings its own (`render/own-program.ts`), so that a plan holds
 * nothing of one mail. Its one output has clicks counted under one number.
 */
const noTemplate: TemplateContent = {
  version: 0,
  category: TemplateCategory.TRANSACTIONAL,
  channel: TemplateChannel.EMAIL,
  subject: '',
  html: '{{ url }}',
  mjml: '',
  text: '',
  senderId: '',
  replyTo: '',
  trackingDisabled: false,
  languages: [],
};

/** The contact's fields that a mail of the plan reads; all where its own content may name any. */
export function fieldsOf(plan: CompiledPlan, usesLiquid = false): readonly string[] {
  return usesLiquid ? contactFields : plan.fields;
}
