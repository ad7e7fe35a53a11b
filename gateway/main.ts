import { resolve } from 'node:path';
import { createClient } from '@connectrpc/connect';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { readEnv } from '#lib/config.ts';
import { createKeyring } from '#lib/keys/keyring.ts';
import { RequestLimits } from '#lib/limits/request-limits.ts';
import { shareUsage, usageReporter } from '#lib/limits/share-usage.ts';
import { createLog } from '#lib/log.ts';
import type { ProcessPart, RunningProcess } from '#lib/process/part.ts';
import { serviceToken } from '#lib/rpc/client/client.ts';
import { oldTokenVerifier } from '#lib/rpc/client/old-tokens.ts';
import { openPages } from './all-pages.ts';
import { contracts } from './api/contracts.ts';
import { routesOf, servicesOf } from './api/routes.ts';
import { type PresentedToken, requireToken } from './api/token.ts';
import { connectServices } from './api/transports.ts';
import { type GatewayConfig, readConfig } from './config.ts';
import { documentsPage } from './docs/documents.ts';
import { serveGrpc } from './grpc/server.ts';
import { startGateway } from './run.ts';

const routes = routesOf(contracts);
/** `npm run guide` and the image put the built guide there. */
const guideFolder = resolve(import.meta.dirname, '../guide/site');

export const part: ProcessPart = {
  configure(env) {
    const config = readEnv(env, (variables) => readConfig(variables, servicesOf(routes)));
    return () => start(config);
  },
};

function start(config: GatewayConfig): Promise<RunningProcess> {
  const transportFor = connectServices(config.addresses, config.clientTls);
  const log = createLog('gateway', config.logLevel, config.logFormat);
  const directory = createClient(WorkspaceDirectoryService, transportFor('workspaces'));
  const verifyOld = oldTokenVerifier(async (token) =>
    directory.authorize({ token }, { headers: { authorization: await authorization() } }),
  );
  const keyring = createKeyring(config.keyset, { log, verifyOld });
  const authorization = serviceToken(keyring);
  const messages = transportFor('messages');
  const contacts = transportFor('contacts');
  const broadcasts = transportFor('broadcasts');
  const workspaces = transportFor('workspaces');
  const peers = { messages, contacts, broadcasts, workspaces };
  const { pages, close } = openPages({
    documents: documentsPage(routes),
    guideFolder,
    publicUrl: config.publicUrl,
    ...peers,
    keyring,
    authorization,
    log,
  });
  const requestLimits = new RequestLimits(config.requestRates);
  const sharing = shareUsage(requestLimits, usageReporter(directory, authorization), log);
  const { verifyToken } = keyring;
  const requireOwnToken = (given: PresentedToken) => requireToken(verifyToken, given);
  const { connectionsMax, connectionsPerAddressMax } = config;
  const shared = { ...config, authorization, log, requestLimits };
  const serverLimits = { max: connectionsMax, perAddressMax: connectionsPerAddressMax };
  const grpc = { ...shared, contracts, requireToken: requireOwnToken, serverLimits };
  return startGateway({
    ...shared,
    limits: { connectionsMax, connectionsPerAddressMax },
    routes,
    pages,
    transportFor,
    verifyToken,
    openGrpc: (port) => serveGrpc(grpc, { host: config.host, port }),
    async close() {
      sharing.stop();
      await close();
    },
  });
}
