import type { DescMethodUnary, Message } from '@bufbuild/protobuf';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';

/** What of a request goes along with the call. */
export type CallContext = { headers: Headers; signal: AbortSignal; timeoutMs: number };

/** Calls a service and tells its own errors from those of the way there. */
export async function call(
  transport: Transport,
  method: DescMethodUnary,
  message: Message,
  { headers, signal, timeoutMs }: CallContext,
): Promise<{ message: Message; header: Headers }> {
  try {
    return await transport.unary(method, signal, timeoutMs, headers, message);
  } catch (error) {
    throw signal.aborted ? error : wayFailure(error);
  }
}

/**
 * A connection that breaks is reported by the library as Aborted, Canceled or Internal, depending on
 * the moment. Whatever the service did not say itself means that it could not be asked.
 */
function wayFailure(error: unknown): unknown {
  if (!(error instanceof ConnectError)) return error;
  const saidByService = error.isWireError && error.code !== Code.Canceled;
  const passes = saidByService || error.code === Code.DeadlineExceeded;
  if (passes) return error;
  return new ConnectError('service not reachable', Code.Unavailable, undefined, undefined, error);
}
