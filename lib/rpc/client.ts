import type { Http2Session } from 'node:http2';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type Interceptor, type Transport } from '@connectrpc/connect';
import { createConnectTransport, Http2SessionManager } from '@connectrpc/connect-node';
import type { Keyring } from '#lib/tokens.ts';
import { retryLater } from './errors.ts';
import { binaryOptions } from './wire.ts';

const tokenTtlSeconds = 300;
const defaultTimeoutMs = 10_000;
/** A replica that could not be reached is not asked for so long while another one can be. */
const restMs = 10_000;

type Sessions = Pick<Http2SessionManager, 'authority' | 'request' | 'notifyResponseByteRead'>;

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
 * The library's connections, made safe. It stops listening to a connection that it has just destroyed, as when pings are not
 * answered, and asks for pings on it; the error that comes of either would end the process. May go when
 * https://github.com/connectrpc/connect-es/issues/1795 and the like are mended.
 */
function guardedSessions(baseUrl: string): Sessions {
  const sessions = new Http2SessionManager(baseUrl, {
    pingIntervalMs: 2_000,
    pingTimeoutMs: 3_000,
    idleConnectionTimeoutMs: 60_000,
  });
  const guarded = new WeakSet<Http2Session>();
  return {
    authority: sessions.authority,
    notifyResponseByteRead: (stream) => sessions.notifyResponseByteRead(stream),
    async request(...call) {
      const stream = await sessions.request(...call);
      const { session } = stream;
      if (session && !guarded.has(session)) {
        guarded.add(session);
        guard(session);
      }
      return stream;
    },
  };
}

/** Who waits for an answer is told by its own stream. */
function guard(session: Http2Session): void {
  session.on('error', () => {});
  const { ping } = session;
  session.ping = (...given: unknown[]) =>
    !session.destroyed && Boolean(Reflect.apply(ping, session, given));
}

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
    sessionManager: guardedSessions(`http://${address}`),
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
  const known = replicas.map((transport) => ({ transport, restsUntilMs: 0 }));
  let turn = 0;
  const next = () => {
    turn = (turn + 1) % known.length;
    const order = [...known.slice(turn), ...known.slice(0, turn)];
    const chosen = order.find(({ restsUntilMs }) => restsUntilMs <= Date.now()) ?? order[0];
    if (!chosen) throw new Error('a service needs an address');
    return chosen;
  };
  return {
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      const first = next();
      try {
        return await first.transport.unary(method, signal, timeoutMs, header, input, contextValues);
      } catch (error) {
        const isRepeatable =
          method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
        const isUnreached = ConnectError.from(error).code === Code.Unavailable;
        if (isUnreached) first.restsUntilMs = Date.now() + restMs;
        if (known.length < 2 || !isRepeatable || !isUnreached || signal?.aborted) throw error;
        return next().transport.unary(method, signal, timeoutMs, header, input, contextValues);
      }
    },
    stream: (...call) => next().transport.stream(...call),
  };
}
