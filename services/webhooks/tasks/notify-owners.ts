import type { Log } from '#lib/log.ts';
import { plainName } from '#lib/plain-name.ts';
import { mailOwners, type Notifying } from '../lifecycle/owner-mail.ts';
import type { OwnerNotice } from '../lifecycle/owner-notice.ts';

/** Mails the owners of a workspace that a subscription of theirs was disabled. */
export function notifyOwners(context: Notifying, base: { log: Pick<Log, 'warn'> }) {
  return async (payload: unknown): Promise<void> => {
    const notice = payload as OwnerNotice;
    const { workspaceId, id } = notice.key;
    const mail = {
      workspaceId,
      subscription: id,
      key: `webhook/${id}/${Date.parse(notice.disabledAt)}`,
      subject: `Webhooks to ${notice.host} were disabled`,
      text: (workspaceName: string) => textOf(notice, workspaceName),
    };
    await mailOwners(context, mail, base);
  };
}

function textOf({ name, host, reason, disabledAt }: OwnerNotice, workspaceName: string): string {
  return [
    `The webhook subscription "${plainName(name)}" of the workspace "${workspaceName}" was disabled at ${disabledAt}.`,
    '',
    `Its endpoint: ${host}`,
    `The reason: ${reason}`,
    '',
    'No events are sent to it until somebody enables it again (webhookSubscriptions.toggle). What it missed by then can',
    'be delivered with webhookSubscriptions.redeliver as long as deliveries are kept.',
    '',
  ].join('\n');
}
