/*
 * Checks the domains of a workspace that are due, one round a job.
 *
 * Reads which are due, the first due first; looks at some of them at a time, each without a
 * transaction; stores each by itself; then has the owners told of what broke or healed, and queues
 * the next round for when the next domain is due. A workspace has one round at a time, of bounded
 * length: what is left is due in the next one. A domain whose check fails is put off, so that it
 * holds up no other.
 */

import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { Context } from '../context.ts';
import { checkDomain } from '../domain-checks/check.ts';
import { noticeChanges } from '../domain-checks/notices.ts';
import { domainsMax } from '../domains/domain.ts';
import { addDomainChecks } from '../domains/queries.ts';

/** Far below the two minutes after which a job counts as one of a dead process. */
const roundMaxMs = 60_000;
const atOnce = 16;
const putOffMinutes = 5;

export function checkDomains(context: Context, { log }: { log: Pick<Log, 'warn'> }) {
  const { store, now } = context;
  return async (payload: unknown): Promise<void> => {
    const { workspaceId } = payload as { workspaceId: string };
    const due = await query<{ name: string }>(
      store.fork(),
      `select name from sending_domains where workspace_id = $1 and next_check_at <= $2
       order by next_check_at limit ${domainsMax}`,
      [workspaceId, now()],
    );
    const endsAtMs = performance.now() + roundMaxMs;
    const work = async (): Promise<void> => {
      while (performance.now() < endsAtMs) {
        const next = due.shift();
        if (!next) return;
        await checkOrPutOff(context, log, { workspaceId, name: next.name });
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    await store.fork().transactional(async (em) => {
      await noticeChanges(em, workspaceId, now());
      await addDomainChecks(em, workspaceId);
    });
  };
}

async function checkOrPutOff(
  context: Context,
  log: Pick<Log, 'warn'>,
  { workspaceId, name }: { workspaceId: string; name: string },
): Promise<void> {
  try {
    await checkDomain(context, { workspaceId, name });
  } catch (error) {
    log.warn({ err: error, workspaceId, domain: name }, 'a domain was not checked');
    await query(
      context.store.fork(),
      `update sending_domains set next_check_at = $3::timestamptz + interval '${putOffMinutes} minutes'
       where workspace_id = $1 and name = $2`,
      [workspaceId, name, context.now()],
    );
  }
}
