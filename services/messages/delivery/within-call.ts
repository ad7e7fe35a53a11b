import type { HandlerContext } from '@connectrpc/connect';
import { deadlineDefaultMs } from '#lib/rpc/server/deadline.ts';

/** Time to finish what has begun and to answer. */
const beforeDeadlineMs = 1_000;

/** Sends within a call: `stop` is aborted by the caller, or a second before the deadline. */
export async function withinCall<Value>(
  call: HandlerContext,
  send: (stop: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const deadline = new AbortController();
  const leftMs = call.timeoutMs() ?? deadlineDefaultMs;
  const timer = setTimeout(() => deadline.abort(), Math.max(0, leftMs - beforeDeadlineMs));
  try {
    return await send(AbortSignal.any([call.signal, deadline.signal]));
  } finally {
    clearTimeout(timer);
  }
}
