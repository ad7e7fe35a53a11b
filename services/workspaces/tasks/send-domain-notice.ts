import type { Log } from '#lib/log.ts';
import { plainName } from '#lib/plain-name.ts';
import type { Context } from '../context.ts';
import type { DomainNotice } from '../domain-checks/notices.ts';
import { sendLetter } from '../mail/send.ts';
import { mailWords } from '../mail/words.ts';
import { findOwners } from '../members/owners.ts';
import { Workspace } from '../workspace.ts';

/** More would not fit a line. */
const namesMax = 3;

/**
 * Mails the owners of a workspace which of its domains broke, and which healed. Repeats carry the
 * same Message-ID.
 */
export function sendDomainNotice(
  context: Pick<Context, 'store' | 'systemMail'>,
  { log }: { log: Pick<Log, 'warn'> },
) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId, broken, healed, noticedAt } = payload as DomainNotice;
    const em = context.store.fork();
    const found = await em.findOne(Workspace, { id: workspaceId, deleted_at: null });
    if (!found) return;
    const workspace = plainName(found.name);
    const owners = await findOwners(em, workspaceId);
    for (const [index, { email, language }] of owners.entries()) {
      const words = mailWords(language);
      const mails = [
        {
          what: 'broken',
          names: broken,
          subject: words.domainBrokenSubject,
          text: words.domainBroken,
        },
        {
          what: 'healed',
          names: healed,
          subject: words.domainHealedSubject,
          text: words.domainHealed,
        },
      ];
      for (const { what, names, subject, text } of mails) {
        if (names.length === 0) continue;
        await sendLetter(context, log, {
          kind: `${what} domain`,
          key: `domains/${workspaceId}/${what}/${Date.parse(noticedAt)}/${index}`,
          ...{ to: email, subject, text, values: { workspace, domains: listed(names) } },
        });
      }
    }
  };
}

function listed(names: readonly string[]): string {
  const more = names.length - namesMax;
  const shown = names.slice(0, namesMax).join(', ');
  return more > 0 ? `${shown}, … (+${more})` : shown;
}
