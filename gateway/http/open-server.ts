import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { ServerTls } from '#lib/rpc/tls.ts';

/** A server of HTTP, or of HTTPS. */
export type WebServer = Server | SecureServer;

// Longer than the 60 seconds after which most load balancers give a connection up.
const keepAliveTimeoutMs = 65_000;
const headersTimeoutMs = 10_000;

export function openServer({
  requestTimeoutMs,
  tls,
}: {
  requestTimeoutMs: number;
  tls?: ServerTls | undefined;
}): WebServer {
  const options = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    handshakeTimeout: headersTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
  };
  return tls
    ? createSecureServer({ ...options, ...tls, requestCert: tls.ca !== undefined })
    : createServer(options);
}
