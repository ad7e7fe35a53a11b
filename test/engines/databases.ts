import { chownSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../deploy/local/postgres.ts';
import { type ServiceName, serviceNames } from '../../deploy/postrider/parts.ts';
import { certificate } from '../certificate.ts';
import { run } from './programs/fetch.ts';
import { freePorts, type Rig } from './rig.ts';

export type Server = {
  port: number;
  /** As the superuser. */
  url(database: string): string;
};

const password = 'superuser';

type ServerOptions = {
  /** Programs of the project's own version if absent. */
  programs?: string;
  /** Takes no connection without TLS. */
  isTlsOnly?: boolean;
};

/** Starts PostgreSQL, whose process is called `postgres`. */
export async function startServer(
  rig: Rig,
  { programs, isTlsOnly = false }: ServerOptions = {},
): Promise<Server> {
  const [port = 0] = await freePorts(1);
  const folder = join(rig.folder, 'postgres');
  const options = { folder, port, password, ...(programs && { programs }) };
  const settings: Record<string, string> = isTlsOnly ? { ssl: 'on' } : {};
  if (isTlsOnly) {
    // It makes its folder, which then gets a certificate.
    await (await startPostgres(options)).stop();
    requireTls(folder);
  }
  await rig.start({
    name: 'postgres',
    start: ({ log }) => startPostgres({ ...options, settings, detached: true, log }),
  });
  const url = (database: string) => {
    const found = new URL(`postgresql://postrider@127.0.0.1:${port}/${database}`);
    found.password = password;
    if (isTlsOnly) found.search = tlsOf(rig);
    return found.href;
  };
  return { port, url };
}

const tlsOf = ({ folder }: Rig) => `?sslmode=verify-full&sslrootcert=${join(folder, 'ca.crt')}`;

function requireTls(folder: string): void {
  const { uid, gid } = statSync(folder);
  const files = {
    'server.key': certificate.key,
    'server.crt': certificate.cert,
    'pg_hba.conf': 'hostssl all all 127.0.0.1/32 scram-sha-256\n',
  };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    chownSync(join(folder, name), uid, gid);
  }
  writeFileSync(join(folder, '..', 'ca.crt'), certificate.cert);
}

export async function ask<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
): Promise<Row[]> {
  const client = new pg.Client(url);
  try {
    await client.connect();
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

/** A URL for each service, in a database for all of them or in one of its own. */
export function serviceUrls(
  superuserUrl: string,
  databaseOf: (name: ServiceName) => string,
): Record<ServiceName, string> {
  const urls = serviceNames.map((name) => {
    const url = new URL(superuserUrl);
    url.username = name;
    url.password = `secret of ${name}`;
    url.pathname = `/${databaseOf(name)}`;
    return [name, url.href];
  });
  return Object.fromEntries(urls);
}

export function urlVariables(urls: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(urls).map(([name, url]) => [`${name.toUpperCase()}_DATABASE_URL`, url]),
  );
}

const program = resolve(import.meta.dirname, '../../deploy/postrider/main.ts');

/** `postrider migrate --provision`, as an operator runs it. */
export async function provisionByProgram(
  superuserUrl: string,
  urls: Record<string, string>,
): Promise<string> {
  const env = { ...process.env, ...urlVariables(urls), SUPERUSER_DATABASE_URL: superuserUrl };
  const said = await run(process.execPath, [program, 'migrate', '--provision'], { env });
  const migrated = said.split('\n').filter((line) => /: m\d/.test(line)).length;
  if (migrated < serviceNames.length) throw new Error(`it said ${said}`);
  return `${migrated} services`;
}

/** As any pg_hba.conf line of `host` would let it in. */
export const withoutTls = (url: string): string => url.replace(/\?.*/, '');
