import type { Context, Methods } from '../context.ts';
import { lockNotification } from '../notification.ts';
import { declareUses } from '../notifications/templates.ts';

export function deleteNotification({ store, templates }: Context): Methods['deleteNotification'] {
  return async (request) => {
    const { name } = await store.fork().transactional(async (em) => {
      const notification = await lockNotification(em, request);
      em.remove(notification);
      await em.flush();
      return notification;
    });
    await declareUses(templates, { ...request, name }, {});
    return { success: true };
  };
}
