import { readEnv } from '#lib/config.ts';
import type { Env } from '#lib/env.ts';
import type { Keyset } from '#lib/keys/keyset.ts';
import { type RequestRates, readRequestRates } from '#lib/limits/request-limits.ts';
import type { LogFormat } from '#lib/log.ts';
import { type ClientTls, readClientTls, readServerTls, type ServerTls } from '#lib/rpc/tls.ts';
import { readTelemetry, type TelemetryConfig } from '#lib/telemetry/config.ts';
import { limitsDefault } from './admission/limits.ts';

export type GatewayConfig = {
  host: string;
  port: number;
  /** The port of gRPC; absent if it has none. */
  grpcPort: number | undefined;
  reflection: boolean;
  keyset: Keyset;
  demoMode: boolean;
  /** Whether browsers reach it by HTTPS, according to `PUBLIC_URL`. */
  isHttps: boolean;
  logLevel: string;
  logFormat: LogFormat;
  /** Connections of each port, and of one client address there. */
  connectionsMax: number;
  connectionsPerAddressMax: number;
  /** Ranges in CIDR notation whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[];
  /** Addresses of a service's processes, `host:port`, by the service's name. */
  addresses: ReadonlyMap<string, readonly string[]>;
  requestRates: RequestRates;
  telemetry: TelemetryConfig;
  /** For calls to services. */
  clientTls: ClientTls | undefined;
  /**
   * The gateway's own certificate, other than the one that services know: browsers must trust it.
   */
  tls: ServerTls | undefined;
};

export function readConfig(env: Env, services: Iterable<string>): GatewayConfig {
  return readEnv(env, (variables) => ({
    host: variables.text('HOST', '127.0.0.1'),
    port: variables.integer('GATEWAY_PORT'),
    grpcPort: variables.integer('GATEWAY_GRPC_PORT', 0) || undefined,
    reflection: variables.text('REFLECTION', 'true') !== 'false',
    keyset: variables.keyset('gateway'),
    demoMode: variables.flag('DEMO_MODE'),
    isHttps: /^https:/i.test(variables.text('PUBLIC_URL', '')),
    logLevel: variables.text('LOG_LEVEL', 'info'),
    logFormat: variables.oneOf('LOG_FORMAT', ['json', 'pretty']),
    connectionsMax: variables.integer('CONNECTIONS_MAX', limitsDefault.connectionsMax, {
      from: 16,
      to: 100_000,
    }),
    connectionsPerAddressMax: variables.integer(
      'CONNECTIONS_OF_ADDRESS_MAX',
      limitsDefault.connectionsPerAddressMax,
      {
        from: 8,
        to: 100_000,
      },
    ),
    trustedProxies: variables.list('TRUSTED_PROXIES'),
    addresses: new Map(
      [...services].map((service) => [
        service,
        variables.requiredList(`${service.toUpperCase()}_ADDR`),
      ]),
    ),
    requestRates: readRequestRates(variables),
    telemetry: readTelemetry(variables),
    clientTls: variables.derived(readClientTls),
    tls: variables.derived((given) => readServerTls(given, 'GATEWAY_')),
  }));
}
