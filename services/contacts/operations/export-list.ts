import { fromJson } from '@bufbuild/protobuf';
import { ExportedMemberSchema } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { timestampSql } from '#lib/postgres/time-sql.ts';
import { requirePermission } from '#lib/rpc/server/access.ts';
import { readExport } from '../audience/export.ts';
import { readStatus } from '../consent/membership.ts';
import type { Context, Methods } from '../context.ts';
import { findList } from '../list-queries.ts';

export function exportList({ store }: Context): Methods['exportList'] {
  return async ({ workspaceId, listId, status, cursor }, call) => {
    requirePermission(call, 'lists', 'read');
    const only = readStatus('status', status) ?? null;
    const em = store.fork();
    await findList(em, { workspaceId, id: listId });
    const { members, ...rest } = await readExport(em, cursor, {
      rows: (limit) => `select email, status, created_at, updated_at,
          $4::text is null or status = $4 as "isExported"
        from memberships
        where workspace_id = $2 and list_id = $3 and email > $1 and deleted_at is null
        order by email limit ${limit}`,
      fields: `'status', 'MEMBERSHIP_STATUS_' || upper(member.status),
        'joined_at', ${timestampSql('member.created_at')},
        'status_changed_at', ${timestampSql('member.updated_at')}`,
      values: [workspaceId, listId, only],
    });
    return { members: members.map((member) => fromJson(ExportedMemberSchema, member)), ...rest };
  };
}
