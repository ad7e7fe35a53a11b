import { globSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { readSuperuserUrl } from '../deploy/postrider/migrate.ts';
import { readHealthConfig } from '../deploy/postrider/run.ts';
import { readConfig as readGatewayConfig } from '../gateway/config.ts';
import { variables } from '../gateway/docs/variable-list.ts';

const root = resolve(import.meta.dirname, '..');
const files = globSync('services/*/config.ts', { cwd: root });
const services = files.map((file) => basename(dirname(file)));

/**
 * The names that a reader asks for. Nothing is set: if it fails, it does so after it has asked for
 * all.
 */
function namesReadBy(read: (env: Record<string, string | undefined>) => unknown): string[] {
  const names = new Set<string>();
  const env = new Proxy<Record<string, string | undefined>>(
    {},
    { get: (_, name) => void names.add(String(name)) },
  );
  try {
    read(env);
  } catch (error) {
    expect(String(error)).toContain('is not set');
  }
  return [...names];
}

test('the page of variables has exactly those that processes read', async () => {
  const readers = await Promise.all(
    files.map(async (file) => (await import(join(root, file))).readConfig),
  );
  const read = [
    ...readers.flatMap((reader) => namesReadBy((env) => reader(env, 'serve'))),
    ...namesReadBy((env) => readGatewayConfig(env, services)),
    ...namesReadBy(readHealthConfig),
    ...namesReadBy((env) => readSuperuserUrl(env)),
  ];
  const names = services.map((service) => service.toUpperCase()).join('|');
  const general = (name: string) =>
    name.replace(
      new RegExp(`^(${names})_(ADDR|PORT|DATABASE_URL|DATABASE_URL_FILE)$`),
      '<NAME>_$2',
    );
  const documented = variables.flatMap(([, rows]) =>
    rows.flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])),
  );
  expect([...new Set(documented)].sort()).toEqual([...new Set(read.map(general))].sort());
});
