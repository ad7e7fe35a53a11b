import { Code, ConnectError } from '@connectrpc/connect';

/**
 * Consumers of version 0.2 take one batch a call. During an update replicas of both versions are
 * called in turn. May go with the release after the next.
 */

/** Time until a group is tried again. */
const restMs = 5_000;

const olderUntilMs = new Map<string, number>();

/** Does `call`, or `instead` if the consumer does not know the RPC. */
export async function unlessOlder<Result>(
  consumer: string,
  call: () => Promise<Result>,
  instead: () => Promise<Result>,
): Promise<Result> {
  if (performance.now() < (olderUntilMs.get(consumer) ?? 0)) return instead();
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ConnectError) || error.code !== Code.Unimplemented) throw error;
    olderUntilMs.set(consumer, performance.now() + restMs);
    return instead();
  }
}
