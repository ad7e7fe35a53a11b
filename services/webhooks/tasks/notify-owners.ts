import { Code, ConnectError } from '@connectrpc/connect';
import type { Log } from '#lib/log.ts';
import { plainName } from '#lib/plain-name.ts';
import type { Context } from '../context.ts';
import type { OwnerNotice } from '../lifecycle/owner-notice.ts';

type Notifying = Pick<Context, 'workspaces' | 'systemMail'>;

/** Mails the owners of a workspace that a subscription of theirs was disabled. Repeats carry the same Message-ID. */
export function notifyOwners(
  { workspaces, systemMail }: Notifying,
  { log }: { log: Pick<Log, 'warn'> },
) {
  return async (payload: unknown): Promise<void> => {
    const notice = payload as OwnerNotice;
    const { workspaceId, id } = notice.key;
    const { workspaceName, emails } = await workspaces.listOwners({ workspaceId });
    const subject = `Webhooks to ${notice.host} were disabled`.slice(0, 200);
    const text = textOf(notice, workspaceName);
    for (const [index, to] of emails.entries()) {
      const key = `webhook/${id}/${Date.parse(notice.disabledAt)}/${index}`;
      try {
        await systemMail.sendSystemMail({ key, to, subject, text });
      } catch (error) {
        if (!isFinal(error)) throw error;
        log.warn({ err: error, workspaceId, subscription: id }, 'an owner cannot be notified');
      }
    }
  };
}

/** Nobody sends system mail here, or not to this address. */
function isFinal(error: unknown): boolean {
  const { code } = ConnectError.from(error);
  return code === Code.FailedPrecondition || code === Code.InvalidArgument;
}

function textOf({ name, host, reason, disabledAt }: OwnerNotice, workspaceName: string): string {
  return [
    `The webhook subscription "${plainName(name)}" of the workspace "${plainName(workspaceName)}" was disabled at ${disabledAt}.`,
    '',
    `Its endpoint: ${host}`,
    `The reason: ${reason}`,
    '',
    'No events are sent to it until somebody enables it again (webhookSubscriptions.toggle). What it missed by then can',
    'be delivered with webhookSubscriptions.redeliver as long as deliveries are kept.',
    '',
  ].join('\n');
}
