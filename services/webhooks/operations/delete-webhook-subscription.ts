import { changeInterests } from '#lib/events/interest-pushes.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { interests } from '../interests/interests.ts';
import { addEnding } from '../lifecycle/ending.ts';
import { addWake } from '../lifecycle/wake.ts';
import { hostOf } from '../subscription.ts';
import { lockSubscription } from '../subscription-queries.ts';

export function deleteWebhookSubscription(context: Context): Methods['deleteWebhookSubscription'] {
  const { dispatcher } = context;
  return async ({ workspaceId, id }, call) => {
    const key = { workspaceId, id };
    await auditedTransaction(context.store, call, (em) =>
      changeInterests(interests, context.producers, { em, workspaceId }, async () => {
        const subscription = await lockSubscription(em, key);
        await em.remove(subscription).flush();
        await addEnding(em, 'forgetDeliveries', key);
        // Its run, if there is one, finds that the row is gone.
        if (subscription.next_wake_at) await addWake(em, { key, host: hostOf(subscription) });
      }),
    );
    await dispatcher.end(key);
    return { success: true };
  };
}
