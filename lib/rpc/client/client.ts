import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { ClientTls } from '../tls.ts';
import { connectionTo } from './connection.ts';
import { followReplicas, type Replicas } from './replicas.ts';
import { type Authorization, leanTransport } from './transport.ts';

const tokenTtlSeconds = 300;
/** How long an unreachable replica is skipped while another one can be reached. */
const restMs = 10_000;

/** A token that says which service calls, renewed in time. */
export function serviceToken(keyring: Keyring): Authorization {
  let header: Promise<string> | undefined;
  let renewAtMs = 0;
  const sign = async () => {
    const claims = { type: 'service', subject: keyring.service, sessionId: '' } as const;
    return `Bearer ${await keyring.signToken(claims, tokenTtlSeconds)}`;
  };
  return () => {
    if (!header || Date.now() > renewAtMs) {
      renewAtMs = Date.now() + (tokenTtlSeconds / 2) * 1000;
      header = sign();
    }
    return header;
  };
}

type Options = {
  /** Uses TLS with this authority. */
  tls?: ClientTls;
  authorization?: Authorization;
  /** Which of the host's addresses; any if absent. */
  ip?: string | undefined;
};

/** A transport to one address, `host:port`. */
export function connectTo(address: string, { tls, authorization, ip }: Options = {}): Transport {
  return leanTransport(connectionTo(address, { tls, ip }), authorization);
}

/** A transport to all replicas behind the addresses of a service, which may be names. */
export function connectToAll(addresses: readonly string[], options: Options = {}): Transport {
  return inTurn(followReplicas(addresses, (address, ip) => connectTo(address, { ...options, ip })));
}

/** A transport to one of our services, with a token that names the caller. */
export function connectToService(
  addresses: readonly string[],
  { keyring, tls }: { keyring: Keyring; tls?: ClientTls | undefined },
): Transport {
  const authorization = serviceToken(keyring);
  return connectToAll(addresses, { ...(tls ? { tls } : {}), authorization });
}

/**
 * Calls the replicas of a service in turn. An idempotent call that did not reach its replica is
 * made once more on the next.
 */
export function inTurn(replicas: Replicas): Transport {
  const restsUntilMs = new WeakMap<Transport, number>();
  let turn = 0;
  const next = () => {
    const known = replicas();
    turn = (turn + 1) % known.length;
    const order = [...known.slice(turn), ...known.slice(0, turn)];
    const isAwake = (each: Transport) => (restsUntilMs.get(each) ?? 0) <= Date.now();
    const chosen = order.find(isAwake) ?? order[0];
    if (!chosen) throw new Error('a service needs an address');
    return chosen;
  };
  return {
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      const first = next();
      try {
        return await first.unary(method, signal, timeoutMs, header, input, contextValues);
      } catch (error) {
        const isRepeatable =
          method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
        const isUnreached = ConnectError.from(error).code === Code.Unavailable;
        if (isUnreached) restsUntilMs.set(first, Date.now() + restMs);
        if (replicas().length < 2 || !isRepeatable || !isUnreached || signal?.aborted) throw error;
        return next().unary(method, signal, timeoutMs, header, input, contextValues);
      }
    },
    stream: (...call) => next().stream(...call),
  };
}
