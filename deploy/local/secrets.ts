import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Installation } from '../keys/installation.ts';
import { loadKeys } from './keys.ts';
import { writePrivately } from './private-file.ts';
import { serviceNames } from './stack-config.ts';

/** Created on the first start and stored in the data folder. */
export type Secrets = {
  secretKey: string;
  keys: Installation;
  postgresPassword: string;
  /** By service; the service's name is its database role. */
  rolePasswords: Record<string, string>;
  /** The API key of the workspace `demo`, once there is one. */
  apiKey?: string;
};

/** `secretKey` is the user's own, if any. */
export function loadSecrets(folder: string, secretKey: string | undefined): Secrets {
  const file = join(folder, 'secrets.json');
  const kept: Partial<Secrets> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const rolePasswords = serviceNames.map((name) => [
    name,
    kept.rolePasswords?.[name] ?? randomSecret(),
  ]);
  const own = secretKey ?? kept.secretKey;
  const secrets = {
    ...kept,
    secretKey: own ?? randomSecret(),
    // A folder from before keysets has a secret key already.
    keys: loadKeys(folder, kept.secretKey && own),
    postgresPassword: kept.postgresPassword ?? randomSecret(),
    rolePasswords: Object.fromEntries(rolePasswords),
  };
  keepSecrets(folder, secrets);
  return secrets;
}

export function keepSecrets(folder: string, secrets: Secrets): void {
  const { keys: _, ...kept } = secrets;
  writePrivately(join(folder, 'secrets.json'), `${JSON.stringify(kept, null, 2)}\n`);
}

function randomSecret(): string {
  return randomBytes(32).toString('hex');
}
