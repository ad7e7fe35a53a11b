import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { connectTo } from '#lib/rpc/client.ts';

/**
 * Transports to services by name. They carry the caller's own token, never one of a service. The
 * replicas of a service are asked in turn.
 */
export function connectServices(
  addresses: ReadonlyMap<string, readonly string[]>,
): (service: string) => Transport {
  const transports = new Map<string, Transport>();
  for (const [service, replicas] of addresses) {
    transports.set(service, inTurn(replicas.map((address) => connectTo(address))));
  }
  return (service) => {
    const transport = transports.get(service);
    if (!transport) throw new Error(`no address for ${service}`);
    return transport;
  };
}

/** A call that did not reach its replica is made once more on the next, where repeating it is safe. */
function inTurn(replicas: readonly Transport[]): Transport {
  let turn = 0;
  const next = (): Transport => {
    turn = (turn + 1) % replicas.length;
    const replica = replicas[turn];
    if (!replica) throw new Error('a service needs an address');
    return replica;
  };
  return {
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      try {
        return await next().unary(method, signal, timeoutMs, header, input, contextValues);
      } catch (error) {
        const repeatable =
          method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
        const unreached = ConnectError.from(error).code === Code.Unavailable;
        if (replicas.length < 2 || !repeatable || !unreached || signal?.aborted) throw error;
        return next().unary(method, signal, timeoutMs, header, input, contextValues);
      }
    },
    stream: (...call) => next().stream(...call),
  };
}
