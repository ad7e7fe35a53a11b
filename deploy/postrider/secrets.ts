import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { keepKeys, readKeys, serviceKeysOf } from '../keys/file.ts';
import { newInstallation } from '../keys/installation.ts';
import { writePrivately } from '../private-file.ts';
import { serviceNames } from './parts.ts';

/**
 * Makes the secrets of an installation as files that containers mount: passwords, database URLs and
 * keys. With
 * `--postgres HOST:PORT/DATABASE` the server is the operator's, whose superuser has a password
 * already; without it, it is that of compose.yaml, and gets one. Leaves what is there, but writes
 * `<service>-keys` anew, by `keys.json`: so keys are replaced, too.
 */
export function makeSecrets(args: string[]): void {
  const { values, positionals } = parseArgs({
    args,
    options: { postgres: { type: 'string' } },
    allowPositionals: true,
  });
  const [folder = ''] = positionals;
  if (positionals.length !== 1) throw new Error('secrets takes one folder');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const keysFile = join(folder, 'keys.json');
  if (!existsSync(keysFile)) keepKeys(keysFile, newInstallation());
  const keys = readKeys(keysFile);
  for (const name of [...serviceNames, 'gateway'])
    writePrivately(join(folder, `${name}-keys`), `${serviceKeysOf(keys, name)}\n`);
  const keep = (name: string, text: string) => {
    const file = join(folder, name);
    if (!existsSync(file)) writePrivately(file, `${text}\n`);
  };
  keep('secret-key', randomPassword());
  for (const name of serviceNames) {
    const at = values.postgres ?? `${ownServer}/postrider`;
    keep(`${name}-database-url`, `postgresql://${name}:${randomPassword()}@${at}`);
  }
  if (values.postgres !== undefined || existsSync(join(folder, 'postgres-password'))) return;
  const password = randomPassword();
  keep('postgres-password', password);
  keep('superuser-database-url', `postgresql://postgres:${password}@${ownServer}/postgres`);
}

/** The one of compose.yaml. */
const ownServer = 'postgres:5432';

const randomPassword = () => randomBytes(24).toString('hex');
