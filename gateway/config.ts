import { type Env, flag, integer, list, required } from '#lib/config.ts';

export type GatewayConfig = {
  host: string;
  port: number;
  secretKey: string;
  demoMode: boolean;
  /** Whether browsers reach it by HTTPS, as `PUBLIC_URL` says. */
  isHttps: boolean;
  logLevel: string;
  /** Ranges in CIDR notation whose `X-Forwarded-For` is believed. */
  trustedProxies: readonly string[];
  /** Addresses of a service's processes, `host:port`, by the service's name. */
  addresses: ReadonlyMap<string, readonly string[]>;
};

export function readConfig(env: Env, services: Iterable<string>): GatewayConfig {
  return {
    host: env.HOST || '127.0.0.1',
    port: integer(env, 'GATEWAY_PORT'),
    secretKey: required(env, 'SECRET_KEY'),
    demoMode: flag(env, 'DEMO_MODE'),
    isHttps: /^https:/i.test(env.PUBLIC_URL ?? ''),
    logLevel: env.LOG_LEVEL || 'info',
    trustedProxies: list(env, 'TRUSTED_PROXIES'),
    addresses: new Map([...services].map((service) => [service, addressesOf(env, service)])),
  };
}

function addressesOf(env: Env, service: string): string[] {
  const name = `${service.toUpperCase()}_ADDR`;
  required(env, name);
  return list(env, name);
}
