import { readPersonRecords } from '#lib/postgres/person-records.ts';
import { requirePermission } from '#lib/rpc/server/access.ts';
import { requireAddress } from '../contact/input.ts';
import type { Context, Methods } from '../context.ts';
import { personSources } from '../kept-data.ts';

export function exportContact(context: Context): Methods['exportContact'] {
  return async ({ workspaceId, email, cursor }, call) => {
    requirePermission(call, 'message_history', 'read');
    const person = { workspaceId, email: requireAddress(email) };
    return readPersonRecords(personSources(context, person), cursor);
  };
}
