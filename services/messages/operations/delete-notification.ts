import { endTemplateUses, releaseTemplates } from '#lib/jobs/template-uses.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { lockNotification } from '../notification.ts';
import { notificationUser, notificationUses } from '../notifications/template-uses.ts';

export function deleteNotification(context: Context): Methods['deleteNotification'] {
  const { store, transactional } = context;
  return async (request, call) => {
    await auditedTransaction(store, call, async (em) => {
      em.remove(await lockNotification(em, request));
      await em.flush();
      await endTemplateUses(em, store.name, notificationUser(request));
    });
    await releaseTemplates({ ...context, usesOf: notificationUses }, notificationUser(request));
    transactional.notifications.forget(request.workspaceId, request.id);
    return { success: true };
  };
}
