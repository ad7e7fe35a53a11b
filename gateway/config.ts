import type { Variables } from '#lib/env.ts';
import { readServiceKeys } from '#lib/keys/config.ts';
import type { Keyset } from '#lib/keys/keyset.ts';
import {
  type CallConfig,
  type ProcessConfig,
  readAddresses,
  readCalls,
  readProcess,
} from '#lib/process/config.ts';
import { readServerTls, type ServerTls } from '#lib/rpc/tls.ts';
import { limitsDefault } from './admission/limits.ts';

export type GatewayConfig = ProcessConfig &
  CallConfig & {
    port: number;
    /** The port of gRPC; absent if it has none. */
    grpcPort: number | undefined;
    keyset: Keyset;
    /** Its address as browsers see it; empty where it is not known. */
    publicUrl: string;
    /** Whether browsers reach it by HTTPS, according to that. */
    isHttps: boolean;
    /** Connections of each port, and of one client address there. */
    connectionsMax: number;
    connectionsPerAddressMax: number;
    /** Ranges in CIDR notation whose `X-Forwarded-For` is trusted. */
    trustedProxies: readonly string[];
    /** Addresses of a service's processes, `host:port`, by the service's name. */
    addresses: ReadonlyMap<string, readonly string[]>;
    /**
     * The gateway's own certificate, other than the one that services know: browsers must trust it.
     */
    tls: ServerTls | undefined;
  };

export function readConfig(variables: Variables, services: Iterable<string>): GatewayConfig {
  const publicUrl = variables.text('PUBLIC_URL', {
    fallback: '',
    about:
      'Its address as browsers see it; with `https:` answers have Strict-Transport-Security. Hosts of tracked links are checked against it.',
  });
  return {
    ...readProcess(variables),
    ...readPorts(variables),
    ...readConnections(variables),
    ...readCalls(variables),
    keyset: readServiceKeys(variables, 'gateway'),
    publicUrl,
    isHttps: /^https:/i.test(publicUrl),
    addresses: readAddresses(variables, [...services]),
    tls: readServerTls(variables, 'GATEWAY_', {
      cert: 'The certificate that browsers see; without it the gateway speaks plain HTTP.',
      key: 'The key of that certificate.',
      clientCa: 'Clients of the API must have a certificate of this authority.',
    }),
  };
}

function readPorts(variables: Variables): Pick<GatewayConfig, 'port' | 'grpcPort'> {
  const port = variables.integer('GATEWAY_PORT', { about: 'The port of the API and the pages.' });
  const grpcPort = variables.integer('GATEWAY_GRPC_PORT', {
    fallback: 0,
    about: 'A port for gRPC, which passes calls to all services; `0` for none.',
  });
  return { port, grpcPort: grpcPort || undefined };
}

function readConnections(variables: Variables) {
  return {
    connectionsMax: variables.integer('CONNECTIONS_MAX', {
      fallback: limitsDefault.connectionsMax,
      from: 16,
      to: 100_000,
      about:
        'Connections of each of its two ports. A new one beyond it replaces the one that has waited longest for a request.',
    }),
    connectionsPerAddressMax: variables.integer('CONNECTIONS_OF_ADDRESS_MAX', {
      fallback: limitsDefault.connectionsPerAddressMax,
      from: 8,
      to: 100_000,
      about:
        'The same of one client address (a /64 of IPv6); those of `TRUSTED_PROXIES` have no limit of their own.',
    }),
    trustedProxies: variables.list('TRUSTED_PROXIES', {
      unset: 'none',
      about: 'Ranges in CIDR notation, separated by commas, whose `X-Forwarded-For` is trusted.',
    }),
  };
}
