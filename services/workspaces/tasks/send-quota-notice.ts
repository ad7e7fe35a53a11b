import { isResource, resources } from '#lib/limits/resources.ts';
import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { Context } from '../context.ts';
import { sendLetter } from '../mail/send.ts';
import { mailWords } from '../mail/words.ts';

type Payload = {
  workspaceId: string;
  resource: string;
  used: number;
  quota: number;
  noticedAt: string;
};
type Owner = { email: string; language: string; workspace: string };

const ownersMax = 100;

/** Mails the owners of a workspace that a quota is nearly used. Repeats carry the same Message-ID. */
export function sendQuotaNotice(
  context: Pick<Context, 'store' | 'systemMail'>,
  { log }: { log: Pick<Log, 'warn'> },
) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId, resource, used, quota, noticedAt } = payload as Payload;
    if (!isResource(resource)) return;
    const { unit } = resources[resource];
    const owners = await query<Owner>(
      context.store.fork(),
      `select users.email, users.language, workspaces.name as workspace
       from members
       join users on users.id = members.user_id
       join workspaces on workspaces.id = members.workspace_id and workspaces.deleted_at is null
       where members.workspace_id = $1 and members.role = 'owner' and users.type = 'user'
       order by members.created_at, users.email limit ${ownersMax}`,
      [workspaceId],
    );
    for (const [index, { email, language, workspace }] of owners.entries()) {
      const words = mailWords(language);
      await sendLetter(context, log, {
        kind: 'quota notice',
        key: `quota/${workspaceId}/${resource}/${Date.parse(noticedAt)}/${index}`,
        to: email,
        subject: words.quotaSubject,
        text: words.quota,
        values: { workspace, resource: resource.replaceAll('_', ' '), unit, used, quota },
      });
    }
  };
}
