import { once } from 'node:events';
import { createServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { writeKeyset } from '#lib/keys/keyset.ts';
import { noLimits, RequestLimits } from '#lib/limits/request-limits.ts';
import { createLog } from '#lib/log.ts';
import { serviceToken } from '#lib/rpc/client/client.ts';
import { allKeys, keyringOfAll } from '#lib/test/all-keys.ts';
import { newInstallation } from '../deploy/keys/installation.ts';
import { openPages } from './all-pages.ts';
import { contracts } from './api/contracts.ts';
import { routesOf } from './api/routes.ts';
import { connectServices } from './api/transports.ts';
import { documentsPage } from './docs/documents.ts';
import { createGateway, type GatewayOptions } from './server.ts';

/** A service for one test: a real Connect server over h2c. */
export type TestService = { port: number; stop(): Promise<void> };

export async function startService(
  routes: (router: ConnectRouter) => void,
  port = 0,
): Promise<TestService> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer(connectNodeAdapter({ routes }));
  server.on('session', (session) => sessions.add(session));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    async stop() {
      server.close();
      for (const session of sessions) session.destroy();
      await once(server, 'close').catch(() => {});
    },
  };
}

const routes = routesOf(contracts);
// As large as all the rest of a gateway.
const documents = documentsPage(routes);

const installation = newInstallation();
/** Its `SERVICE_KEYS`. */
export const serviceKeys = writeKeyset(allKeys('gateway', installation));
export const keyring = keyringOfAll('gateway', installation);

export function tokenFor(subject: string, ttlSeconds = 60): Promise<string> {
  return keyring.signToken({ type: 'user', subject, sessionId: 'session-1' }, ttlSeconds);
}

/** As its processes know it. */
export const publicUrl = 'http://gateway.example:4400';

export type TestGateway = {
  url: string;
  port: number;
  logged: Record<string, unknown>[];
  drain(graceMs: number): Promise<void>;
  stop(): Promise<void>;
};

/** A gateway whose services are all the one given, on a free port. */
export async function startGateway(
  servicePort: number,
  given: Partial<GatewayOptions> & { guideFolder?: string } = {},
): Promise<TestGateway> {
  const logged: Record<string, unknown>[] = [];
  const log = createLog('gateway', 'error');
  log.error = (entry: Record<string, unknown>) => void logged.push(entry);
  const services = ['broadcasts', 'contacts', 'messages', 'templates', 'webhooks', 'workspaces'];
  const address = [`127.0.0.1:${servicePort}`];
  const transportFor = connectServices(new Map(services.map((service) => [service, address])));
  const messages = transportFor('messages');
  const contacts = transportFor('contacts');
  const broadcasts = transportFor('broadcasts');
  const authorization = serviceToken(keyring);
  const workspaces = transportFor('workspaces');
  const peers = { messages, contacts, broadcasts, workspaces };
  const { pages, close } = openPages({
    documents,
    // One that is not there: the guide of this clone is built or not.
    guideFolder: given.guideFolder ?? '/nowhere/guide',
    publicUrl,
    ...peers,
    keyring,
    authorization,
    log,
  });
  const { server, drain } = createGateway({
    routes,
    pages,
    publicUrl,
    transportFor,
    verifyToken: keyring.verifyToken,
    authorization,
    requestLimits: new RequestLimits(noLimits),
    demoMode: false,
    log,
    callTimeoutMs: 5_000,
    requestTimeoutMs: 30_000,
    trustedProxies: [],
    ...given,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    await drain(0);
    await close();
  };
  return { url: `http://127.0.0.1:${port}`, port, logged, drain, stop };
}
