import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { keepKeys, readKeys, serviceKeysOf } from '../keys/file.ts';
import { newInstallation } from '../keys/installation.ts';
import { writePrivately } from '../local/private-file.ts';
import { serviceNames } from './parts.ts';

/**
 * Makes the secrets of an installation as files that containers mount: passwords, database URLs for `--postgres HOST:PORT/DATABASE`, and
 * keys. Leaves what is there, but writes `<service>-keys` anew, by `keys.json`: so keys are replaced, too.
 */
export function makeSecrets(args: string[]): void {
  const { values, positionals } = parseArgs({
    args,
    options: { postgres: { type: 'string', default: 'postgres:5432/postrider' } },
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
    keep(`${name}-database-url`, `postgresql://${name}:${randomPassword()}@${values.postgres}`);
  }
  const password = randomPassword();
  const server = values.postgres.split('/', 1)[0];
  if (existsSync(join(folder, 'postgres-password'))) return;
  keep('postgres-password', password);
  keep('superuser-database-url', `postgresql://postgres:${password}@${server}/postgres`);
}

const randomPassword = () => randomBytes(24).toString('hex');
