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

type Changing<Change, Outcome> = {
  /** The contact that a change creates if it is new; undefined if it needs none. */
  emailOf: (change: Change) => string | undefined;
  write: (within: readonly Change[]) => Promise<readonly Outcome[]>;
};

/**
 * Writes the changes for whose contacts there is room, and refuses the others: an outcome for each,
 * in their order.
 */
export async function withinQuota<Change, Outcome>(
  scope: Scope,
  changes: readonly Change[],
  { emailOf, write }: Changing<Change, Outcome>,
): Promise<(Outcome | Error)[]> {
  const emails = changes.flatMap((change) => emailOf(change) ?? []);
  const beyond = await findBeyondQuota(scope, [...new Set(emails)]);
  const within = changes.filter((change) => !beyond.has(emailOf(change) ?? ''));
  const outcomes = within.length > 0 ? await write(within) : [];
  const byChange = new Map(within.map((change, index) => [change, outcomes[index]]));
  const refusal = beyond.size > 0 ? await beyondQuota(scope) : undefined;
  return changes.map(
    (change) => byChange.get(change) ?? refusal ?? new Error('a change was not written'),
  );
}
