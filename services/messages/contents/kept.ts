import type { Context } from '../context.ts';
import { toMessageContent } from '../views/message-content.ts';
import { readContent } from './store.ts';

const dayMs = 24 * 60 * 60 * 1_000;

/** The content of a message as the API shows it; undefined if the workspace does not keep it. */
export async function readKeptContent(
  context: Pick<Context, 'store' | 'keyring' | 'plans' | 'now'>,
  key: { workspaceId: string; id: string },
) {
  const { settings } = await context.plans.settings(key.workspaceId);
  const days = settings?.messageContentDays ?? 0;
  if (days === 0) return undefined;
  const since = new Date(context.now().getTime() - days * dayMs);
  const mail = await readContent(context, key, since);
  return mail && toMessageContent(mail);
}
