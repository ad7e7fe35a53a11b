import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeKeyset } from '#lib/keys/keyset.ts';
import { type Installation, keysetsOf, newInstallation } from '../keys/installation.ts';
import { writePrivately } from './private-file.ts';

export const keysFile = (folder: string): string => join(folder, 'keys.json');

/** Every key of the stack, made on the first start; from the secret key of a stack that was there before keysets. */
export function loadKeys(folder: string, olderSecretKey: string | undefined): Installation {
  const file = keysFile(folder);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  const made = newInstallation(olderSecretKey);
  keepKeys(file, made);
  return made;
}

export function keepKeys(file: string, installation: Installation): void {
  writePrivately(file, `${JSON.stringify(installation, null, 2)}\n`);
}

/** `SERVICE_KEYS` of a process. */
export function serviceKeysOf(installation: Installation, service: string): string {
  const keyset = keysetsOf(installation)[service];
  if (!keyset) throw new Error(`no service is called ${service}`);
  return writeKeyset(keyset);
}
