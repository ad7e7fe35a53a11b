import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type Interceptor, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import type { Keyring } from '#lib/tokens.ts';
import { retryLater } from './errors.ts';
import { binaryOptions } from './wire.ts';

const tokenTtlSeconds = 300;
const defaultTimeoutMs = 10_000;

/** Puts a token that says which service calls on every request, and renews it in time. */
function serviceToken(keyring: Keyring, service: string): Interceptor {
  let token: Promise<string> | undefined;
  let renewAtMs = 0;
  return (next) => async (request) => {
    if (!token || Date.now() > renewAtMs) {
      renewAtMs = Date.now() + (tokenTtlSeconds / 2) * 1000;
      token = keyring.signToken(
        { type: 'service', subject: service, sessionId: '' },
        tokenTtlSeconds,
      );
    }
    request.header.set('authorization', `Bearer ${await token}`);
    return next(request);
  };
}

/** A peer that can't be reached is Unavailable, whatever its socket said. */
const peerDown: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (error) {
    const failure = ConnectError.from(error);
    const socket = /ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|stream|session|GOAWAY|PING|socket/i;
    const unreachable = failure.code === Code.Unavailable || failure.code === Code.Aborted;
    if (failure.metadata.has('date') || (!unreachable && failure.code !== Code.Internal))
      throw error;
    if (!unreachable && !socket.test(failure.rawMessage)) throw error;
    throw retryLater(`${request.service.typeName} is not available`, Code.Unavailable, 1_000);
  }
};

/**
 * A transport to one address, `host:port`. A peer that is frozen is found out by pings, within five
 * seconds, and its calls fail.
 */
export function connectTo(address: string, interceptors: Interceptor[] = []): Transport {
  return createConnectTransport({
    httpVersion: '2',
    baseUrl: `http://${address}`,
    interceptors: [peerDown, ...interceptors],
    acceptCompression: [],
    binaryOptions,
    pingIntervalMs: 2_000,
    pingTimeoutMs: 3_000,
    idleConnectionTimeoutMs: 60_000,
    defaultTimeoutMs,
  });
}

/** A transport to a service of ours, with a token that says who calls. */
export function connectToService(
  addresses: readonly string[],
  keyring: Keyring,
  service: string,
): Transport {
  const interceptors = [serviceToken(keyring, service)];
  return inTurn(addresses.map((address) => connectTo(address, interceptors)));
}

/**
 * Asks the replicas of a service in turn. A call that did not reach its replica is made once more on
 * the next, where repeating it is safe.
 */
export function inTurn(replicas: readonly Transport[]): Transport {
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
        const isRepeatable =
          method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
        const isUnreached = ConnectError.from(error).code === Code.Unavailable;
        if (replicas.length < 2 || !isRepeatable || !isUnreached || signal?.aborted) throw error;
        return next().unary(method, signal, timeoutMs, header, input, contextValues);
      }
    },
    stream: (...call) => next().stream(...call),
  };
}
