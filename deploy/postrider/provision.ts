import { isNativeError } from 'node:util/types';
import pg from 'pg';
import { connectionStringOf } from '#lib/postgres/database-url.ts';
import { newClient } from './client.ts';
import { type ServiceName, serviceNames } from './parts.ts';

/** Where the URL names none, or the one that every server has. */
const databaseDefault = 'postrider';
const statementTimeout = '15s';
const idleTimeout = '30s';

type ProvisionOptions = {
  services?: readonly ServiceName[];
  /** The variable of the superuser's URL, for errors. */
  variable?: string;
};

/**
 * Gives every service its own role and schemas in one database, that of the URL or `postrider`,
 * which is made if there is none; a role has no rights elsewhere. Repeating it changes nothing.
 * Returns each service's URL.
 */
export async function provision(
  superuserUrl: string,
  passwords: Record<string, string>,
  { services = serviceNames, variable = 'DATABASE_URL' }: ProvisionOptions = {},
): Promise<Record<string, string>> {
  const named = decodeURIComponent(new URL(superuserUrl).pathname.slice(1));
  const databaseName = named === '' || named === 'postgres' ? databaseDefault : named;
  const database = pg.escapeIdentifier(databaseName);
  await withClient(await reachableUrl(superuserUrl, variable), variable, async (client) => {
    const found = await client.query('select 1 from pg_database where datname = $1', [
      databaseName,
    ]);
    if (found.rowCount === 0) await client.query(`create database ${database}`);
  });
  // Relative file names in the URL become absolute: services have other working folders.
  const databaseUrl = new URL(connectionStringOf(superuserUrl));
  databaseUrl.pathname = `/${encodeURIComponent(databaseName)}`;
  await withClient(databaseUrl.href, variable, async (client) => {
    await client.query('begin');
    await client.query(`revoke all on database ${database} from public`);
    await client.query('revoke all on schema public from public');
    for (const name of services)
      await provisionService(client, { name, database, password: passwords[name] ?? '' });
    await client.query('commit');
  });
  return Object.fromEntries(
    services.map((name) => {
      const url = new URL(databaseUrl);
      url.username = name;
      url.password = passwords[name] ?? '';
      return [name, url.href];
    }),
  );
}

/** Gives one role, for all services, a database of its own. */
export async function provisionShared(
  superuserUrl: string,
  sharedUrl: string,
  variable: string,
): Promise<void> {
  const url = new URL(sharedUrl);
  const user = decodeURIComponent(url.username);
  const databaseName = decodeURIComponent(url.pathname.slice(1));
  if (user === '' || databaseName === '') {
    throw new Error('DATABASE_URL must name a user and a database, for --provision');
  }
  await withClient(await reachableUrl(superuserUrl, variable), variable, async (client) => {
    const [role, database] = [user, databaseName].map(pg.escapeIdentifier);
    const roles = await client.query('select 1 from pg_roles where rolname = $1', [user]);
    if (roles.rowCount === 0) await client.query(`create role ${role} login`);
    const password = client.escapeLiteral(decodeURIComponent(url.password));
    await client.query(`alter role ${role} password ${password}`);
    await client.query(`grant ${role} to current_user`);
    const found = await client.query('select 1 from pg_database where datname = $1', [
      databaseName,
    ]);
    if (found.rowCount === 0) await client.query(`create database ${database} owner ${role}`);
    await client.query(`revoke all on database ${database} from public`);
    await client.query(`grant connect, create on database ${database} to ${role}`);
  });
}

type Role = { name: string; password: string; database: string };

async function provisionService(
  client: pg.Client,
  { name, password, database }: Role,
): Promise<void> {
  const found = await client.query('select 1 from pg_roles where rolname = $1', [name]);
  if (found.rowCount === 0) await client.query(`create role ${name} login`);
  await client.query(`alter role ${name} password ${client.escapeLiteral(password)}`);
  // Without full superuser rights, creating a schema for another owner requires membership in its
  // role.
  await client.query(`grant ${name} to current_user`);
  await client.query(`create schema if not exists ${name} authorization ${name}`);
  await client.query(`create schema if not exists ${name}_jobs authorization ${name}`);
  const setting = `alter role ${name} in database ${database} set`;
  await client.query(`${setting} search_path = ${name}`);
  await client.query(`${setting} statement_timeout = '${statementTimeout}'`);
  // A process that froze within a transaction must not keep its locks for ever.
  await client.query(`${setting} idle_in_transaction_session_timeout = '${idleTimeout}'`);
  await client.query(`revoke create on database ${database} from ${name}`);
  await client.query(`grant connect on database ${database} to ${name}`);
}

const noSuchDatabase = '3D000';

/** A database that is not there yet is made from another one. */
async function reachableUrl(superuserUrl: string, variable: string): Promise<string> {
  try {
    await withClient(superuserUrl, variable, async () => {});
    return superuserUrl;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (!(cause instanceof pg.DatabaseError && cause.code === noSuchDatabase)) throw error;
    const url = new URL(superuserUrl);
    url.pathname = '/postgres';
    return url.href;
  }
}

async function withClient(
  url: string,
  variable: string,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const connectionString = connectionStringOf(url);
  const client = newClient(connectionString, 10_000);
  try {
    await client.connect();
  } catch (error) {
    const { hostname, port } = new URL(connectionString);
    const reason = isNativeError(error) ? error.message || String(error) : String(error);
    throw new Error(`${variable}: cannot connect to ${hostname}:${port || 5432}: ${reason}`, {
      cause: error,
    });
  }
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
