import { query } from '#lib/postgres/query.ts';
import { refusal } from '#lib/rpc/reasons.ts';
import { readContent } from '../contents/store.ts';
import type { Context, Methods } from '../context.ts';
import { uuid } from '../history/cursor.ts';
import { readRequests } from '../history/requests.ts';
import { type MessageRow, messageColumns } from '../message-queries.ts';
import { toMessage } from '../views/message.ts';
import { toMessageContent } from '../views/message-content.ts';

const dayMs = 24 * 60 * 60 * 1_000;

export function getMessage(context: Context): Methods['getMessage'] {
  return async ({ workspaceId, id }) => {
    const key = { workspaceId, id: id.toLowerCase() };
    const row = await readMessage(context, key);
    if (!row) throw refusal('MESSAGE_NOT_FOUND', 'Message not found');
    const { found } = await readRequests(context, workspaceId, [row]);
    return { message: toMessage(row, found.get(row.id)), content: await contentOf(context, key) };
  };
}

type Key = { workspaceId: string; id: string };

async function readMessage({ store }: Context, key: Key): Promise<MessageRow | undefined> {
  if (!uuid.test(key.id)) return undefined;
  const [row] = await query<MessageRow>(
    store.fork(),
    `select ${messageColumns} from messages where workspace_id = $1 and id = $2`,
    [key.workspaceId, key.id],
  );
  return row;
}

async function contentOf(context: Context, key: Key) {
  const { settings } = await context.plans.settings(key.workspaceId);
  const days = settings?.messageContentDays ?? 0;
  if (days === 0) return undefined;
  const since = new Date(context.now().getTime() - days * dayMs);
  const mail = await readContent(context, key, since);
  return mail && toMessageContent(mail);
}
