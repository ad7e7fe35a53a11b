import { Code, ConnectError } from '@connectrpc/connect';
import type { Log } from '#lib/log.ts';
import type { Context } from '../context.ts';
import type { SubscriptionKey } from '../subscription.ts';

/** A subscription that the system has disabled, as its owners are told. */
export type Disabled = {
  key: SubscriptionKey;
  name: string;
  host: string;
  reason: string;
  /** RFC 3339. */
  disabledAt: string;
};

type Telling = Pick<Context, 'workspaces' | 'systemMail'>;

/** Tells the owners of a workspace by mail that a subscription of theirs was disabled. Repeats carry the same Message-ID. */
export function tellOwners(
  { workspaces, systemMail }: Telling,
  { log }: { log: Pick<Log, 'warn'> },
) {
  return async (payload: unknown): Promise<void> => {
    const disabled = payload as Disabled;
    const { workspaceId, id } = disabled.key;
    const { workspaceName, emails } = await workspaces.listOwners({ workspaceId });
    const subject = `Webhooks to ${disabled.host} were disabled`.slice(0, 200);
    const text = textOf(disabled, workspaceName);
    for (const [index, to] of emails.entries()) {
      const key = `webhook/${id}/${Date.parse(disabled.disabledAt)}/${index}`;
      try {
        await systemMail.sendSystemMail({ key, to, subject, text });
      } catch (error) {
        if (!isFinal(error)) throw error;
        log.warn({ err: error, workspaceId, subscription: id }, 'an owner cannot be told by mail');
      }
    }
  };
}

/** Nobody sends system mail here, or not to this address. */
function isFinal(error: unknown): boolean {
  const { code } = ConnectError.from(error);
  return code === Code.FailedPrecondition || code === Code.InvalidArgument;
}

function textOf({ name, host, reason, disabledAt }: Disabled, workspaceName: string): string {
  return [
    `The webhook subscription "${oneLine(name)}" of the workspace "${oneLine(workspaceName)}" was disabled at ${disabledAt}.`,
    '',
    `Its endpoint: ${host}`,
    `The reason: ${reason}`,
    '',
    'No events are sent to it until somebody enables it again (webhookSubscriptions.toggle). What it missed by then can',
    'be delivered with webhookSubscriptions.redeliver as long as deliveries are kept.',
    '',
  ].join('\n');
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ').slice(0, 255);
}
