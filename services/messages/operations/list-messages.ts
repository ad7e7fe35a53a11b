import type { Context, Methods } from '../context.ts';
import { readCursor, writeCursor } from '../history/cursor.ts';
import { historyFilters } from '../history/filters.ts';
import { readHistoryPage } from '../history/page.ts';
import { toMessage } from '../views/message.ts';

const defaultLimit = 20;

export function listMessages({ store }: Context): Methods['listMessages'] {
  return async (request) => {
    const filters = historyFilters(request);
    const { messages, next } = await readHistoryPage(store, filters, {
      limit: request.limit ?? defaultLimit,
      after: request.cursor === '' ? undefined : readCursor(request.cursor),
    });
    return {
      messages: messages.map(toMessage),
      nextCursor: next && writeCursor(next),
      hasMore: next !== undefined,
    };
  };
}
