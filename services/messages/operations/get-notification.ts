import type { Context, Methods } from '../context.ts';
import { findNotification } from '../notification.ts';
import { toNotification } from '../views/notification.ts';

export function getNotification({ store }: Context): Methods['getNotification'] {
  return async (request) => ({
    notification: toNotification(await findNotification(store.fork(), request)),
  });
}
