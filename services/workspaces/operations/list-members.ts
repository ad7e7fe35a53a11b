import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Context, Methods } from '../context.ts';
import type { Permissions } from '../workspace.ts';

const rowsMax = 2_000;

type MemberRow = {
  user_id: string | null;
  role: string;
  permissions: Permissions;
  created_at: string;
  email: string;
  type: string;
  language: string;
  invitation_id: string | null;
  expires_at: string | null;
};

export function listMembers({ store, now }: Context): Methods['listMembers'] {
  return async ({ id: workspaceId }) => {
    const rows = await store.read<MemberRow>(
      `(select user_id, role, permissions, members.created_at, email, type, language,
               null::uuid as invitation_id, null::timestamptz as expires_at
        from members join users on users.id = members.user_id
        where workspace_id = $1
        order by role = 'owner' desc, members.created_at, user_id limit ${rowsMax})
       union all
       (select null, 'member', permissions, created_at, email, 'user', language, id, expires_at
        from invitations where workspace_id = $1 and expires_at > $2
        order by created_at, email limit ${rowsMax})`,
      [workspaceId, now()],
    );
    return { members: rows.map((row) => memberMessage(workspaceId, row)) };
  };
}

function memberMessage(workspaceId: string, row: MemberRow) {
  const { role, permissions, email, type, language, expires_at: expiresAt } = row;
  return {
    ...{ workspaceId, role, permissions, email, type, language },
    userId: row.user_id ?? '',
    createdAt: timestampFromDate(new Date(row.created_at)),
    invitationId: row.invitation_id ?? '',
    ...(expiresAt ? { invitationExpiresAt: timestampFromDate(new Date(expiresAt)) } : {}),
  };
}
