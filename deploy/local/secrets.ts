import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivately } from './private-file.ts';
import { serviceNames } from './stack-config.ts';

/** Created on the first start and stored in the data folder. */
export type Secrets = {
  secretKey: string;
  postgresPassword: string;
  /** By service; the service's name is its database role. */
  rolePasswords: Record<string, string>;
  /** The API key of the workspace `demo`, once there is one. */
  apiKey?: string;
};

export function loadSecrets(folder: string): Secrets {
  const file = join(folder, 'secrets.json');
  const kept: Partial<Secrets> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const rolePasswords = serviceNames.map((name) => [
    name,
    kept.rolePasswords?.[name] ?? randomSecret(),
  ]);
  const secrets = {
    ...kept,
    secretKey: kept.secretKey ?? randomSecret(),
    postgresPassword: kept.postgresPassword ?? randomSecret(),
    rolePasswords: Object.fromEntries(rolePasswords),
  };
  keepSecrets(folder, secrets);
  return secrets;
}

export function keepSecrets(folder: string, secrets: Secrets): void {
  writePrivately(join(folder, 'secrets.json'), `${JSON.stringify(secrets, null, 2)}\n`);
}

function randomSecret(): string {
  return randomBytes(32).toString('hex');
}
