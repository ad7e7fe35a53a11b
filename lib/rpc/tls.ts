import { readFileSync } from 'node:fs';
import type { Env } from '#lib/env.ts';

/**
 * The authority that a client trusts, and the client's own certificate for servers that ask for
 * one.
 */
export type ClientTls = { ca: Buffer; cert?: Buffer; key?: Buffer };

/** A server's certificate; with `ca`, its clients must have certificates of that authority. */
export type ServerTls = { cert: Buffer; key: Buffer; ca?: Buffer };

function read(env: Env, name: string): Buffer | undefined {
  const path = env[name];
  if (!path) return undefined;
  try {
    return readFileSync(path);
  } catch {
    throw new Error(`${name}: ${path} cannot be read`);
  }
}

/**
 * `TLS_CERT_FILE` and `TLS_KEY_FILE` make a server speak TLS; `TLS_CLIENT_CA_FILE` makes it ask for
 * certificates. A prefix distinguishes one server's variables from those of the process.
 */
export function readServerTls(env: Env, prefix: '' | 'GATEWAY_' = ''): ServerTls | undefined {
  const own = { cert: `${prefix}TLS_CERT_FILE`, key: `${prefix}TLS_KEY_FILE` };
  const [cert, key] = [read(env, own.cert), read(env, own.key)];
  const ca = read(env, `${prefix}TLS_CLIENT_CA_FILE`);
  if (Boolean(cert) !== Boolean(key)) throw new Error(`${own.cert} and ${own.key} go together`);
  if (cert && key) return { cert, key, ca };
  if (ca) throw new Error(`${prefix}TLS_CLIENT_CA_FILE needs ${own.cert} and ${own.key}`);
  return undefined;
}

/**
 * `TLS_CA_FILE` makes clients speak TLS to our services; they present the process's own certificate
 * if it has one.
 */
export function readClientTls(env: Env): ClientTls | undefined {
  const ca = read(env, 'TLS_CA_FILE');
  return ca && { ca, cert: read(env, 'TLS_CERT_FILE'), key: read(env, 'TLS_KEY_FILE') };
}
