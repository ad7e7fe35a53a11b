import type { PlanKey } from '../plans/plans.ts';

export type TransactionalKind = {
  workspaceId: string;
  notificationId: string;
  templateId: string;
  /** The newest if zero. */
  templateVersion: number;
  integrationId: string;
  utm: Record<string, string>;
  isTracked: boolean;
};

type Sent = Pick<
  TransactionalKind,
  'workspaceId' | 'templateId' | 'templateVersion' | 'integrationId'
>;

export function groupOf({ workspaceId, templateId, templateVersion, integrationId }: Sent) {
  const template = { templateId, templateVersion, integrationId };
  return { workspaceId, broadcastId: null, listId: null, ...template, isByHand: false };
}

/** What messages of a notification have in common. */
export function planKeyOf({ notificationId, utm, isTracked, ...key }: TransactionalKind): PlanKey {
  return {
    ...key,
    about: {
      feedbackId: [notificationId, key.workspaceId, 'transactional', 'postrider'],
      utm,
      isTracked,
      hasOwnPreviewLine: true,
      values: {},
    },
  };
}
