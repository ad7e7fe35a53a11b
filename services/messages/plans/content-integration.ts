import type { EmailProvider } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Plans } from './plans.ts';
import { findSender } from './variants.ts';

type WantedIntegration = {
  /** Empty for that of the settings, or another with the sender. */
  named: string;
  /** Empty for none. */
  ofSettings: string;
  /** Empty for any. */
  senderEmail: string;
  /** Undefined for one that is gone. */
  providerOf: (integrationId: string) => Promise<EmailProvider | undefined>;
};

/**
 * The integration for content of its own: the one that is named; else that of the settings if it
 * has the sender, else one that has. Undefined where none will do.
 */
export async function integrationOfContent(
  plans: Pick<Plans, 'integrationOfSender'>,
  workspaceId: string,
  { named, ofSettings, senderEmail, providerOf }: WantedIntegration,
): Promise<string | undefined> {
  const first = named || ofSettings;
  if (first !== '') {
    const emailProvider = await providerOf(first);
    if (senderEmail === '' || findSender({ emailProvider }, senderEmail)) return first;
  }
  const isFree = named === '' && senderEmail !== '';
  return isFree ? plans.integrationOfSender(workspaceId, senderEmail) : undefined;
}
