import type { Log } from '#lib/log.ts';
import { plainName } from '#lib/plain-name.ts';
import { isResource, resources } from '#lib/quotas/resources.ts';
import type { Context } from '../context.ts';
import { sendLetter } from '../mail/send.ts';
import { mailWords } from '../mail/words.ts';
import { findOwners } from '../members/owners.ts';
import { Workspace } from '../workspace.ts';

type Payload = {
  workspaceId: string;
  resource: string;
  used: number;
  quota: number;
  noticedAt: string;
};

/**
 * Mails the owners of a workspace that a quota is nearly used. Repeats carry the same Message-ID.
 */
export function sendQuotaNotice(
  context: Pick<Context, 'store' | 'systemMail'>,
  { log }: { log: Pick<Log, 'warn'> },
) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId, resource, used, quota, noticedAt } = payload as Payload;
    if (!isResource(resource)) return;
    const { unit } = resources[resource];
    const em = context.store.fork();
    const workspace = await em.findOne(Workspace, { id: workspaceId, deleted_at: null });
    if (!workspace) return;
    const owners = await findOwners(em, workspaceId);
    for (const [index, { email, language }] of owners.entries()) {
      const words = mailWords(language);
      await sendLetter(context, log, {
        kind: 'quota notice',
        key: `quota/${workspaceId}/${resource}/${Date.parse(noticedAt)}/${index}`,
        to: email,
        subject: words.quotaSubject,
        text: words.quota,
        values: {
          workspace: plainName(workspace.name),
          resource: resource.replaceAll('_', ' '),
          unit,
          used,
          quota,
        },
      });
    }
  };
}
