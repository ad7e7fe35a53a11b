import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { type Quotas, quotaExceeded } from '#lib/quotas/quotas.ts';

type Scope = { em: EntityManager; workspaceId: string; quotas: Quotas };

/**
 * Which addresses would be contacts beyond the quota: those that are new, behind the ones for which
 * there is room.
 */
export async function findBeyondQuota(
  { em, workspaceId, quotas }: Scope,
  emails: readonly string[],
): Promise<Set<string>> {
  const room = quotas.room(workspaceId, 'contacts');
  if (room >= emails.length) return new Set();
  const rows = await query<{ email: string }>(
    em,
    'select email from contacts where workspace_id = $1 and email = any($2::text[])',
    [workspaceId, emails],
  );
  const known = new Set(rows.map(({ email }) => email));
  return new Set(emails.filter((email) => !known.has(email)).slice(room));
}

/** The refusal of a contact beyond the quota. */
export async function beyondQuota({ workspaceId, quotas }: Omit<Scope, 'em'>) {
  const quota = await quotas.quotaOf(workspaceId, 'contacts');
  const used = quota - quotas.room(workspaceId, 'contacts');
  return quotaExceeded('contacts', { used, quota });
}

/** Throws QUOTA_EXCEEDED if the address would be a contact beyond the quota. */
export async function requireContactRoom(scope: Scope, email: string): Promise<void> {
  if ((await findBeyondQuota(scope, [email])).size > 0) throw await beyondQuota(scope);
}
