import type { Log } from '#lib/log.ts';
import { plainName } from '#lib/plain-name.ts';
import { query } from '#lib/postgres/query.ts';
import type { Context } from '../context.ts';
import { sendLetter } from '../mail/send.ts';
import { mailWords } from '../mail/words.ts';
import { invitationDays } from '../members/invitation.ts';
import { workspaceSecrets } from '../workspace.ts';

type Payload = { workspaceId: string; id: string; inviterId: string; sealed: string };
type InvitationRow = { email: string; language: string; workspace: string; inviter: string };

/** Mails an invitation that is still open. Repeats carry the same Message-ID. */
export function sendInvitation(context: Context, { log }: { log: Pick<Log, 'warn'> }) {
  return async (payload: unknown): Promise<void> => {
    const { store, keyring, now, publicUrl } = context;
    const { workspaceId, id, inviterId, sealed } = payload as Payload;
    const [row] = await query<InvitationRow>(
      store.fork(),
      `select invitations.email, invitations.language, workspaces.name as workspace, users.email as inviter
       from invitations
       join workspaces on workspaces.id = invitations.workspace_id
       join users on users.id = $3
       where workspace_id = $1 and invitations.id = $2 and invitations.expires_at > $4`,
      [workspaceId, id, inviterId, now()],
    );
    if (!row) return;
    const place = { workspaceId, row: id, column: 'invitation' };
    const { token } = JSON.parse(keyring.open(workspaceSecrets, sealed, place));
    const { workspace, inviter } = row;
    const words = mailWords(row.language);
    await sendLetter(context, log, {
      kind: 'invitation',
      key: `invitation/${id}`,
      to: row.email,
      subject: words.invitationSubject,
      text: words.invitation,
      values: {
        workspace: plainName(workspace),
        inviter,
        token,
        url: publicUrl,
        days: invitationDays,
      },
    });
  };
}
