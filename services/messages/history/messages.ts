import type { MessageInitShape } from '@bufbuild/protobuf';
import type { MessageSchema } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Store } from '#lib/postgres/store.ts';
import { toMessage } from '../views/message.ts';
import { readMessageCursor, writeMessageCursor } from './cursor.ts';
import { type HistoryRequest, historyFilters } from './filters.ts';
import { readHistoryPage } from './page.ts';
import { readRequests } from './requests.ts';

type PageRequest = HistoryRequest & { cursor: string };

/** A page of messages as the API shows them; one with many values ends early. */
export async function readMessages(
  context: { store: Store; keyring: Keyring },
  request: PageRequest,
  limit: number,
): Promise<{
  messages: MessageInitShape<typeof MessageSchema>[];
  nextCursor: string | undefined;
}> {
  const filters = historyFilters(request);
  const { cursor, workspaceId } = request;
  const after = cursor === '' ? undefined : readMessageCursor(cursor, filters.addresses?.prefix);
  const page = await readHistoryPage(context.store, filters, { limit, after });
  const { found, cutAt } = await readRequests(context, workspaceId, page.messages);
  const cut = page.messages.findIndex(({ id }) => id === cutAt);
  const rows = cut < 0 ? page.messages : page.messages.slice(0, cut);
  const next = cut < 0 ? page.next : page.cursors[cut - 1];
  return {
    messages: rows.map((row) => toMessage(row, found.get(row.id))),
    nextCursor: next && writeMessageCursor(next),
  };
}
