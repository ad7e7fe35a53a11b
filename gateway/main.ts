import { createLog } from '#lib/log.ts';
import { createKeyring } from '#lib/tokens.ts';
import { readConfig } from './config.ts';
import { contracts } from './contracts.ts';
import { allPages } from './pages/all.ts';
import { routesOf, servicesOf } from './routes.ts';
import { runGateway } from './run.ts';
import { connectServices } from './transports.ts';

const routes = routesOf(contracts);
const config = readConfig(process.env, servicesOf(routes));
const transportFor = connectServices(config.addresses);
const { verifyToken } = createKeyring(config.secretKey);
const pages = allPages(routes, transportFor('messages'));
const log = createLog('gateway', config.logLevel);
runGateway({ ...config, routes, pages, transportFor, verifyToken, log });
