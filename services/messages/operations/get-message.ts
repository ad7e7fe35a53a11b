import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import { readKeptContent } from '../archive/kept.ts';
import type { Context, Methods } from '../context.ts';
import { uuid } from '../history/cursor.ts';
import { readRequests } from '../history/requests.ts';
import { type MessageRow, messageColumns } from '../message-queries.ts';
import { toMessage } from '../views/message.ts';

export function getMessage(context: Context): Methods['getMessage'] {
  return async ({ workspaceId, id }) => {
    const key = { workspaceId, id: id.toLowerCase() };
    const row = await readMessage(context, key);
    if (!row) throw refusal('MESSAGE_NOT_FOUND', 'Message not found');
    const { found } = await readRequests(context, workspaceId, [row]);
    const mail = await readKeptContent(context, key);
    return {
      message: toMessage(row, found.get(row.id)),
      content: mail && (await context.reader.read(mail, workspaceId)),
    };
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
