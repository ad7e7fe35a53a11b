import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { pause, pausesMax } from '../receivers/pauses.ts';
import { groupOfTable } from '../receivers/table.ts';
import { toPausedReceiver } from '../views/paused-receiver.ts';

export function pauseReceiver({ store, plans, now }: Context): Methods['pauseReceiver'] {
  return async ({ workspaceId, integrationId, receiver, forSeconds }, call) => {
    const group = groupOfTable(receiver);
    if (group !== receiver) {
      throw invalidField('receiver', `mail to ${receiver} counts for the group ${group}`);
    }
    const at = now();
    const endsAt = new Date(at.getTime() + forSeconds * 1_000);
    if (!(await plans.isDirect(workspaceId, integrationId))) {
      throw invalidField('integration_id', 'the integration does not deliver directly');
    }
    return auditedTransaction(store, call, async (em) => {
      const key = { workspaceId, integrationId, receiver };
      if (!(await pause(em, key, { endsAt, at }))) {
        const text = `at most ${pausesMax} groups of receivers of an integration can be paused`;
        throw refusal('LIMIT_OF_WORKSPACE', text);
      }
      return { paused: toPausedReceiver({ receiver, endsAt, pausedAt: at }) };
    });
  };
}
