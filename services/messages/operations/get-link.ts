import type { Context, Methods } from '../context.ts';
import { findLinked, unlessGone } from '../links/linked-message.ts';

export function getLink(context: Context): Methods['getLink'] {
  return async ({ workspaceId, token }) => {
    const message = await findLinked(context, { workspaceId, token });
    const [workspace, subscriber] = await Promise.all([
      unlessGone(() => context.plans.settings(workspaceId)),
      message &&
        unlessGone(() => context.contacts.getSubscriber({ workspaceId, email: message.email })),
    ]);
    const { name = '', settings } = workspace ?? {};
    const subscriptions = subscriber?.subscriptions ?? [];
    const about = subscriptions.find(({ listId }) => listId === message?.listId);
    return {
      listId: about?.listId ?? '',
      listName: about?.listName ?? '',
      language: subscriber?.language || settings?.defaultLanguage || '',
      timezone: subscriber?.timezone ?? '',
      subscriptions,
      workspaceName: name,
      websiteUrl: settings?.websiteUrl ?? '',
      logoUrl: settings?.logoUrl ?? '',
      expired: message?.isExpired ?? false,
      isConfirmation: message?.isConfirmation ?? false,
      leavesAll: message?.leavesAll ?? false,
    };
  };
}
