import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepKeys, keysFile } from '../keys/file.ts';
import { newInstallation } from '../keys/installation.ts';
import { serviceNames } from '../postrider/parts.ts';
import { writePrivately } from '../private-file.ts';

/** Created on the first start and stored in the data folder. */
export type Secrets = {
  secretKey: string;
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
    postgresPassword: kept.postgresPassword ?? randomSecret(),
    rolePasswords: Object.fromEntries(rolePasswords),
  };
  // A folder from before keysets has a secret key already.
  if (!existsSync(keysFile(folder))) {
    keepKeys(keysFile(folder), newInstallation(kept.secretKey && own));
  }
  keepSecrets(folder, secrets);
  return secrets;
}

export function keepSecrets(folder: string, secrets: Secrets): void {
  writePrivately(join(folder, 'secrets.json'), `${JSON.stringify(secrets, null, 2)}\n`);
}

function randomSecret(): string {
  return randomBytes(32).toString('hex');
}
