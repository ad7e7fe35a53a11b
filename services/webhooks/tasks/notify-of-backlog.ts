import type { Log } from '#lib/log.ts';
import { plainName } from '#lib/plain-name.ts';
import type { BacklogNotice } from '../backlog/trim.ts';
import { mailOwners, type Notifying } from '../lifecycle/owner-mail.ts';

/** Mails the owners of a workspace that deliveries failed since too many waited. */
export function notifyOfBacklog(context: Notifying, base: { log: Pick<Log, 'warn'> }) {
  return async (payload: unknown): Promise<void> => {
    const notice = payload as BacklogNotice;
    const { workspaceId, host, droppedAt } = notice;
    const mail = {
      workspaceId,
      key: `webhook-backlog/${workspaceId}/${Date.parse(droppedAt)}`,
      subject: `Too many webhooks to ${host} are waiting`,
      text: (workspaceName: string) => textOf(notice, workspaceName),
    };
    await mailOwners(context, mail, base);
  };
}

function textOf(
  { name, host, failed, subscriptions, reason, droppedAt }: BacklogNotice,
  workspaceName: string,
): string {
  const others = subscriptions === 1 ? '' : ` and ${subscriptions - 1} other subscriptions`;
  return [
    `Events of the workspace "${workspaceName}" come faster than its webhooks are delivered.`,
    '',
    `At ${droppedAt} the oldest ${failed} deliveries of "${plainName(name)}" (${host})${others} were given up.`,
    `The reason: ${reason}`,
    '',
    'More may be given up while it goes on: webhookSubscriptions.list says when that last happened. What is given up can be',
    'delivered with webhookSubscriptions.redeliver as long as deliveries are kept.',
    '',
  ].join('\n');
}
