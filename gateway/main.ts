import { createLog } from '#lib/log.ts';
import { readClientTls } from '#lib/rpc/tls.ts';
import { createKeyring } from '#lib/tokens.ts';
import { readConfig } from './config.ts';
import { contracts } from './contracts.ts';
import { openPages } from './pages/all.ts';
import { routesOf, servicesOf } from './routes.ts';
import { runGateway } from './run.ts';
import { connectServices } from './transports.ts';

const routes = routesOf(contracts);
const config = readConfig(process.env, servicesOf(routes));
const transportFor = connectServices(config.addresses, readClientTls(process.env));
const keyring = createKeyring(config.secretKey);
const log = createLog('gateway', config.logLevel);
const { pages, close } = openPages({ routes, messages: transportFor('messages'), keyring, log });
const { verifyToken } = keyring;
runGateway({ ...config, routes, pages, transportFor, verifyToken, log, close });
