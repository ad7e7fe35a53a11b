import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { ServiceName } from '../postrider/parts.ts';
import { provision } from '../postrider/provision.ts';
import { environmentWith, program, serviceVariables } from './parts.ts';
import { loadSecrets } from './secrets.ts';
import { readStackConfig } from './stack-config.ts';

/**
 * Has each service of the running local stack seal what it stores by the key in use: `npm run
 * rotate-secrets`.
 */

const withSealed: readonly ServiceName[] = ['workspaces', 'broadcasts', 'webhooks', 'messages'];

const root = resolve(import.meta.dirname, '../..');
const config = readStackConfig(process.env, root);
const secrets = loadSecrets(config.folder, config.secretKey);
const url =
  config.own.databaseUrl ??
  `postgresql://postrider:${secrets.postgresPassword}@127.0.0.1:${config.ports.postgres}/postgres`;
const databaseUrls = await provision(url, secrets.rolePasswords);
for (const name of withSealed) {
  const variables = serviceVariables(name, config, secrets, databaseUrls);
  const child = spawn(process.execPath, [...program, 'rotate-secrets', name], {
    cwd: config.folder,
    // The journal belongs to the process that serves.
    env: environmentWith({ ...variables, MESSAGES_JOURNAL: '' }),
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exitCode = 1;
}
