import type { Context, Methods } from '../context.ts';
import { readMessages } from '../history/messages.ts';

const defaultLimit = 20;

export function listMessages(context: Context): Methods['listMessages'] {
  return async (request) => {
    const page = await readMessages(context, request, request.limit ?? defaultLimit);
    return { ...page, hasMore: page.nextCursor !== undefined };
  };
}
