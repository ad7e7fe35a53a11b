import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { canonicalAddress } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { addJob } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { callerOf } from '#lib/rpc/server/access.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { shownPermissions } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import { mailLanguage } from '../mail/words.ts';
import { hashOf, invitationDays, newToken } from '../members/invitation.ts';
import { lockAsOwner } from '../members/members.ts';
import { permissionsOrAll } from '../members/permissions.ts';
import { admitAttempt } from '../sign-in/limits.ts';
import { workspaceSecrets } from '../workspace.ts';

const invitationsMax = 100;
const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;

export function inviteMember(context: Context): Methods['inviteMember'] {
  return async (request, call) => {
    const { workspaceId } = request;
    const email = canonicalAddress(request.email);
    if (!email) throw invalidField('email', 'email is not a valid address');
    const permissions = permissionsOrAll(request);
    await admitAttempt(context, call, [
      { key: `invitation to ${email} of ${workspaceId}`, attemptsMax: 5, windowMs: hourMs },
      { key: `invitation to ${email}`, attemptsMax: 20, windowMs: hourMs },
      { key: `invitation of ${workspaceId}`, attemptsMax: 50, windowMs: hourMs },
    ]);
    const at = context.now();
    const expiresAt = new Date(at.getTime() + invitationDays * dayMs);
    const [id, token] = [crypto.randomUUID(), newToken(workspaceId)];
    const language = mailLanguage([request.language]);
    await context.store.fork().transactional(async (em) => {
      await lockAsOwner(em, call, workspaceId);
      await checkRoom(em, { workspaceId, email, at });
      await query(
        em,
        `insert into invitations
           (workspace_id, email, id, token_hash, permissions, language, created_at, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8)
         on conflict (workspace_id, email) do update set id = excluded.id,
           token_hash = excluded.token_hash, permissions = excluded.permissions, language = excluded.language,
           created_at = excluded.created_at, expires_at = excluded.expires_at`,
        [
          workspaceId,
          email,
          id,
          hashOf(token),
          JSON.stringify(permissions),
          language,
          at,
          expiresAt,
        ],
      );
      const place = { workspaceId, row: id, column: 'invitation' };
      const sealed = context.keyring.seal(workspaceSecrets, JSON.stringify({ token }), place);
      const inviterId = callerOf(call).subject;
      const payload = { workspaceId, id, inviterId, sealed };
      await addJob(em, 'workspaces', { task: 'sendInvitation', payload });
      const after = { email, permissions: shownPermissions(permissions) };
      await recordChange(em, call, { targetId: id, after });
    });
    const times = { expiresAt: timestampFromDate(expiresAt), createdAt: timestampFromDate(at) };
    return {
      status: 'success',
      message: 'Invitation sent',
      invitation: { id, workspaceId, email, permissions, ...times },
    };
  };
}

type InvitationRequest = { workspaceId: string; email: string; at: Date };

async function checkRoom(
  em: EntityManager,
  { workspaceId, email, at }: InvitationRequest,
): Promise<void> {
  await query(em, 'delete from invitations where workspace_id = $1 and expires_at <= $2', [
    workspaceId,
    at,
  ]);
  const [found] = await query<{ is_member: boolean; open: number }>(
    em,
    `select exists (
         select from members join users on users.id = members.user_id
         where members.workspace_id = $1 and users.type = 'user' and users.email = $2
       ) as is_member,
       (select count(*)::int from invitations where workspace_id = $1 and email <> $2) as open`,
    [workspaceId, email],
  );
  if (found?.is_member) {
    throw refusal('ALREADY_EXISTS', 'the user is already a member of the workspace');
  }
  if (found && found.open >= invitationsMax) {
    throw refusal(
      'LIMIT_OF_WORKSPACE',
      `a workspace has at most ${invitationsMax} open invitations`,
    );
  }
}
