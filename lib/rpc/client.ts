import type { Transport } from '@connectrpc/connect';
import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import type { Keyring } from '#lib/tokens.ts';
import { retryLater } from './errors.ts';

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
    pingIntervalMs: 2_000,
    pingTimeoutMs: 3_000,
    idleConnectionTimeoutMs: 60_000,
    defaultTimeoutMs,
  });
}

/**
 * Spreads calls over the replicas of a service in turn. A call that could not reach one is made
 * again on the next: our RPCs are idempotent between services, by key or by claim.
 */
export function connectToService(
  addresses: readonly string[],
  keyring: Keyring,
  service: string,
): Transport {
  const interceptors = [serviceToken(keyring, service)];
  const transports = addresses.map((address) => connectTo(address, interceptors));
  const [first] = transports;
  if (!first) throw new Error('a service needs an address');
  if (transports.length === 1) return first;
  let turn = 0;
  const pick = (offset: number) => transports[(turn + offset) % transports.length] ?? first;
  return {
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      turn += 1;
      try {
        return await pick(0).unary(method, signal, timeoutMs, header, input, contextValues);
      } catch (error) {
        if (ConnectError.from(error).code !== Code.Unavailable || signal?.aborted) throw error;
        return pick(1).unary(method, signal, timeoutMs, header, input, contextValues);
      }
    },
    stream(method, signal, timeoutMs, header, input, contextValues) {
      return pick(0).stream(method, signal, timeoutMs, header, input, contextValues);
    },
  };
}
