import { createKeyring } from '#lib/keys/keyring.ts';
import { createLog } from '#lib/log.ts';
import { serviceToken } from '#lib/rpc/client/client.ts';
import { readClientTls, readServerTls } from '#lib/rpc/tls.ts';
import { contracts } from './api/contracts.ts';
import { connectServices } from './api/transports.ts';
import { readConfig } from './config.ts';
import { openPages } from './pages/all.ts';
import { routesOf, servicesOf } from './routes.ts';
import { runGateway } from './run.ts';

const routes = routesOf(contracts);
const config = readConfig(process.env, servicesOf(routes));
const transportFor = connectServices(config.addresses, readClientTls(process.env));
const log = createLog('gateway', config.logLevel);
const keyring = createKeyring(config.secretKey, { log });
const authorization = serviceToken(keyring, 'gateway');
const messages = transportFor('messages');
const { pages, close } = openPages({ routes, messages, keyring, authorization, log });
const { verifyToken } = keyring;
// Not the certificate that the services know: what the world trusts is another one.
const tls = readServerTls(process.env, 'GATEWAY_');
runGateway({ ...config, routes, pages, transportFor, verifyToken, authorization, log, tls, close });
