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

type PlanKeyParts = Pick<
  TransactionalKind,
  'workspaceId' | 'templateId' | 'templateVersion' | 'integrationId'
>;

export function groupOf({ workspaceId, templateId, templateVersion, integrationId }: PlanKeyParts) {
  const template = { templateId, templateVersion, integrationId };
  return { workspaceId, broadcastId: null, listId: null, ...template, isByHand: false };
}

/** The plan that messages of a notification share. */
export function planKeyOf({ notificationId, utm, isTracked, ...key }: TransactionalKind): PlanKey {
  return {
    ...key,
    about: {
      feedbackId: [notificationId, key.workspaceId, 'transactional'],
      utm,
      isTracked,
      hasOwnPreviewLine: true,
      values: {},
    },
  };
}
