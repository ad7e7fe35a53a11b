import type { Client } from '@connectrpc/connect';
import type { MailSettingsService } from '#gen/postrider/messages/v1/messages_pb.ts';

export type MailSettings = Pick<Client<typeof MailSettingsService>, 'refreshSettings'>;

/** For the answer of an operation: a person waits for it. */
const waitMaxMs = 1_000;

/**
 * Has the next mail go by a change that is committed. No job: if messages does not answer, it reads
 * the change within five seconds by itself.
 */
export async function refreshMailSettings(
  { mailSettings }: { mailSettings: MailSettings },
  workspaceId: string,
): Promise<void> {
  await mailSettings.refreshSettings({ workspaceId }, { timeoutMs: waitMaxMs }).catch(() => {});
}
