import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';

/** The segments that don't exist, or are being deleted, in the order given. */
export async function missingSegments(
  em: EntityManager,
  workspaceId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await query<{ id: string }>(
    em,
    `select id from segments
     where workspace_id = $1 and id = any($2::text[]) and status <> 'deleted'`,
    [workspaceId, ids],
  );
  const known = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !known.has(id));
}

export async function requireSegments(
  em: EntityManager,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const missing = await missingSegments(em, workspaceId, ids);
  if (missing.length > 0) throw refusal('SEGMENT_NOT_FOUND', 'Segment not found');
}
