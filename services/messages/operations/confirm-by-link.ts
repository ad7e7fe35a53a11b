import { invalidField } from '#lib/errors/errors.ts';
import type { Context, Methods } from '../context.ts';
import { findLinked, linkExpired } from '../links/linked-message.ts';
import { endCoolDown } from '../record/confirmations.ts';

export function confirmByLink(context: Context): Methods['confirmByLink'] {
  return async ({ workspaceId, token }) => {
    const message = await findLinked(context, { workspaceId, token });
    if (!message) return {};
    if (!message.isConfirmation) throw invalidField('token', 'the link is not valid');
    if (message.isExpired) throw linkExpired();
    const { email, listId } = message;
    await context.contacts.confirmSubscription({ workspaceId, email, listId });
    await endCoolDown(context.store, { workspaceId, email, listId });
    return {};
  };
}
