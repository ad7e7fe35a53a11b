import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeKeyset } from '#lib/keys/keyset.ts';
import { writePrivately } from '../private-file.ts';
import { type Installation, keysetsOf } from './installation.ts';

/** The file of a local stack with its keys. */
export const keysFile = (folder: string): string => join(folder, 'keys.json');

export function readKeys(file: string): Installation {
  return JSON.parse(readFileSync(file, 'utf8'));
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
