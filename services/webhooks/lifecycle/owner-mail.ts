import { type Client, Code, ConnectError } from '@connectrpc/connect';
import type { SystemMailService } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Log } from '#lib/log.ts';
import { plainName } from '#lib/plain-name.ts';

export type Notifying = {
  workspaces: Pick<Client<typeof WorkspaceDirectoryService>, 'listOwners'>;
  systemMail: Pick<Client<typeof SystemMailService>, 'sendSystemMail'>;
};

export type OwnerMail = {
  workspaceId: string;
  /** In the log of an owner who cannot be notified. */
  subscription?: string;
  /** Repeats with the same key carry the same Message-ID. */
  key: string;
  subject: string;
  /** Gets the name of the workspace, as plain text. */
  text: (workspaceName: string) => string;
};

/** Mails the owners of a workspace. */
export async function mailOwners(
  { workspaces, systemMail }: Notifying,
  { workspaceId, subscription, key, subject, text }: OwnerMail,
  { log }: { log: Pick<Log, 'warn'> },
): Promise<void> {
  const { workspaceName, emails } = await workspaces.listOwners({ workspaceId });
  const mail = { subject: subject.slice(0, 200), text: text(plainName(workspaceName)) };
  for (const [index, to] of emails.entries()) {
    try {
      await systemMail.sendSystemMail({ key: `${key}/${index}`, to, ...mail });
    } catch (error) {
      if (!isFinal(error)) throw error;
      log.warn({ err: error, workspaceId, subscription }, 'an owner cannot be notified');
    }
  }
}

/** Nobody sends system mail here, or not to this address. */
function isFinal(error: unknown): boolean {
  const { code } = ConnectError.from(error);
  return code === Code.FailedPrecondition || code === Code.InvalidArgument;
}
