import type { ConnectError } from '@connectrpc/connect';
import { invalidField, isFinal } from '#lib/errors/errors.ts';
import { reasonOf, refusal } from '#lib/errors/reasons.ts';
import { integrationOfContent } from '../plans/content-integration.ts';
import type { CompiledPlan, Plans } from '../plans/plans.ts';
import type { Checked } from './input.ts';
import type { TransactionalItem } from './item.ts';
import { noProvider } from './no-provider.ts';
import { type Sendable, type SendableNotifications, withoutNotification } from './notifications.ts';
import { planKeyOf } from './plan.ts';
import type { CheckedContent } from './raw-content.ts';

/** Messages of a kind have a plan and settings in common. */
export type Kind = {
  sendable: Sendable;
  plan: CompiledPlan;
  integrationId: string;
  /** Whether mails have content of their own that is Liquid. */
  usesLiquid: boolean;
};

/** Messages of one kind share a plan. Ids of notifications have no brackets. */
export function kindKey({ notificationId, content }: Checked): string {
  if (!content) return notificationId;
  const { integrationId, isTracked, stored } = content;
  return JSON.stringify([
    ...[notificationId, integrationId, isTracked],
    ...[stored.from_email, stored.use_liquid],
  ]);
}

/** A field of content that the workspace's integrations do not allow. */
export class ContentFault extends Error {
  readonly #field: string;

  constructor(field: string, text: string) {
    super(text);
    this.#field = field;
  }

  at({ field }: Checked): ConnectError {
    return invalidField(`${field}.content.${this.#field}`, this.message);
  }
}

export function notFound(): ConnectError {
  return refusal('NOTIFICATION_NOT_FOUND', 'Notification not found');
}

/** By their keys; an error where mail of a kind cannot be sent. */
export async function kindsOf(
  { plans, notifications }: { plans: Plans; notifications: SendableNotifications },
  workspaceId: string,
  items: readonly TransactionalItem[],
): Promise<Map<string, Kind | Error>> {
  const ids = items.flatMap(({ checked }) => checked.notificationId || []);
  const [{ settings }, found] = await Promise.all([
    plans.settings(workspaceId),
    notifications.find(workspaceId, ids),
  ]);
  const firsts = new Map(items.map(({ checked }) => [kindKey(checked), checked]));
  const ofSettings = settings?.transactionalEmailProviderId ?? '';
  const kinds = [...firsts].flatMap(([key, { notificationId, content }]) => {
    const named = found.get(notificationId);
    if (content) {
      const sendable = ownSendable(content, { named, notificationId });
      return sendable
        ? [ownKindOf(plans, workspaceId, { sendable, content, ofSettings }).then(withKey(key))]
        : [];
    }
    if (!named) return [];
    const integrationId = named.integrationId || ofSettings;
    return [kindOf(plans, workspaceId, { sendable: named, integrationId }).then(withKey(key))];
  });
  return new Map(await Promise.all(kinds));
}

const withKey = (key: string) => (kind: Kind | Error) => [key, kind] as const;

/** A mail with content of its own has the settings of its notification, or the defaults. */
function ownSendable(
  { integrationId, isTracked }: CheckedContent,
  { named, notificationId }: { named: Sendable | undefined; notificationId: string },
): Sendable | undefined {
  if (!named && notificationId !== '') return undefined;
  const settings = named ?? withoutNotification;
  return {
    ...settings,
    templateId: '',
    integrationId: integrationId || settings.integrationId,
    isTracked: isTracked ?? settings.isTracked,
  };
}

type Through = { sendable: Sendable; integrationId: string; content?: CheckedContent };

async function kindOf(
  plans: Plans,
  workspaceId: string,
  { sendable, integrationId, content }: Through,
): Promise<Kind | Error> {
  if (integrationId === '') return noProvider();
  const { id: notificationId, templateId, utm, isTracked } = sendable;
  const senderEmail = content?.stored.from_email;
  const kind = { workspaceId, notificationId, integrationId, utm, isTracked, senderEmail };
  try {
    const plan = await plans.get(planKeyOf({ ...kind, templateId, templateVersion: 0 }));
    const usesLiquid = content?.stored.use_liquid ?? false;
    return { sendable, plan, integrationId, usesLiquid };
  } catch (error) {
    return unsendable(error);
  }
}

async function ownKindOf(
  plans: Plans,
  workspaceId: string,
  given: { sendable: Sendable; content: CheckedContent; ofSettings: string },
): Promise<Kind | Error> {
  try {
    const integrationId = await integrationFor(plans, workspaceId, given);
    return await kindOf(plans, workspaceId, { ...given, integrationId });
  } catch (error) {
    return error instanceof ContentFault ? error : unsendable(error);
  }
}

/** Empty where neither an integration nor a sender is named, and the settings have none. */
async function integrationFor(
  plans: Plans,
  workspaceId: string,
  { sendable, content, ofSettings }: Parameters<typeof ownKindOf>[2],
): Promise<string> {
  const { from_email: senderEmail } = content.stored;
  const integrationId = await integrationOfContent(plans, workspaceId, {
    named: sendable.integrationId,
    ofSettings,
    senderEmail,
    providerOf: (id) => providerOf(plans, { workspaceId, integrationId: id, content }),
  });
  if (integrationId !== undefined || senderEmail === '') return integrationId ?? '';
  throw new ContentFault(
    'from.email',
    'content.from.email must be the address of a sender of the integration',
  );
}

async function providerOf(
  plans: Plans,
  given: { workspaceId: string; integrationId: string; content: CheckedContent },
) {
  const { workspaceId, integrationId, content } = given;
  try {
    return await plans.providerOf(workspaceId, integrationId);
  } catch (error) {
    const isNamed = content.integrationId !== '' && reasonOf(error) === 'INTEGRATION_NOT_FOUND';
    throw isNamed ? new ContentFault('integration_id', 'integration not found') : error;
  }
}

/** A fault that the workspace has to mend is not the request's. */
function unsendable(error: unknown): Error {
  if (!isFinal(error)) return error instanceof Error ? error : new Error('unknown');
  return refusal('NOTIFICATION_UNUSABLE', `the notification cannot be sent: ${error.rawMessage}`);
}
