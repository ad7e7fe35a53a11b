import { refusal } from '#lib/errors/reasons.ts';
import { changeInterests } from '#lib/events/interest-pushes.ts';
import { query } from '#lib/postgres/query.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { interests } from '../interests/interests.ts';

/** The task `tendListeners` deletes what waits for it. */
export function endWebhookListener(context: Context): Methods['endWebhookListener'] {
  const { store, producers, databaseTime } = context;
  return ({ workspaceId, id }, call) =>
    auditedTransaction(store, call, (em) =>
      changeInterests(interests, producers, { em, workspaceId }, async () => {
        const ended = await query(
          em,
          `update listeners set ended_at = coalesce(ended_at, $3::timestamptz, now())
           where workspace_id = $1 and id = $2 returning 1`,
          [workspaceId, id, databaseTime()?.toISOString() ?? null],
        );
        if (ended.length === 0) {
          throw refusal('WEBHOOK_LISTENER_NOT_FOUND', 'Webhook listener not found');
        }
        return { success: true };
      }),
    );
}
