import type { Context, Methods } from '../context.ts';
import { readMessages } from '../history/messages.ts';

const defaultLimit = 500;

export function exportMessages(context: Context): Methods['exportMessages'] {
  return (request) => readMessages(context, request, request.limit ?? defaultLimit);
}
