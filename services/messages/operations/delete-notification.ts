import { refusal } from '#lib/errors/reasons.ts';
import { endTemplateUses, releaseTemplates } from '#lib/jobs/template-uses.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { lockNotification, type NotificationKey } from '../notification.ts';
import { notificationUser, notificationUses } from '../notifications/template-uses.ts';

const nameLengthMax = 50;

export function deleteNotification(context: Context): Methods['deleteNotification'] {
  const { store, transactional } = context;
  return async (request, call) => {
    await checkUnused(context, request);
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

/** Of a list that begins to use it at the same moment, the welcomes fail. */
async function checkUnused(
  { contacts }: Pick<Context, 'contacts'>,
  { workspaceId, id }: NotificationKey,
): Promise<void> {
  const { names } = await contacts.listWelcomingLists({ workspaceId, notificationId: id });
  const [first, ...others] = names;
  if (first === undefined) return;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  const named = `list '${first.slice(0, nameLengthMax)}'${more}`;
  throw refusal('NOTIFICATION_IN_USE', `the notification is the welcome of ${named}`);
}
