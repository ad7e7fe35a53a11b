import type { Quotas } from '#lib/quotas/quotas.ts';
import type { StoredContent } from './stored-content.ts';

/**
 * Takes room for a version. It counts as its JSON until the database is asked for what it stores.
 * To be called where a repeated call has been answered: that adds nothing.
 */
export function takeRoom(quotas: Quotas, workspaceId: string, content: StoredContent): void {
  quotas.requireRoom(workspaceId, 'template_bytes');
  quotas.grew(workspaceId, 'template_bytes', Buffer.byteLength(JSON.stringify(content)));
}
