import type { Store } from '#lib/postgres/store.ts';
import { Domain } from '../domains/domain.ts';
import { findKeys } from '../domains/queries.ts';
import { type MailSettings, refreshMailSettings } from '../integrations/mail-settings.ts';
import { type Looking, lookAtDomain } from './look.ts';
import { type Settling, settleCheck } from './settle.ts';

export type Checking = Looking &
  Settling & { store: Store; mailSettings: MailSettings; now: () => Date };

/**
 * Looks at the records of a domain and stores what is found. Messages hears at once where mails are
 * sent in another way from now on. Does nothing where there is no such domain.
 */
export async function checkDomain(
  checking: Checking,
  { workspaceId, name }: { workspaceId: string; name: string },
): Promise<void> {
  const { store, now } = checking;
  const begunAt = now();
  const em = store.fork();
  const domain = await em.findOne(Domain, { workspace_id: workspaceId, name });
  if (!domain) return;
  const findings = await lookAtDomain(checking, domain, await findKeys(em, [domain]));
  const isChanged = await store
    .fork()
    .transactional((own) =>
      settleCheck(own, checking, { domain, begunAt, endedAt: now(), findings }),
    );
  if (isChanged) await refreshMailSettings(checking, workspaceId);
}
