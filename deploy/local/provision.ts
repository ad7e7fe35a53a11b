import { isNativeError } from 'node:util/types';
import pg from 'pg';
import { connectionStringOf } from '#lib/postgres/database-url.ts';
import { serviceNames } from './stack-config.ts';

/** Where the URL names none, or the one that every server has. */
const databaseDefault = 'postrider';
const statementTimeout = '15s';
const idleTimeout = '30s';

/**
 * Gives every service its own role and schemas in one database, that of the URL or `postrider`, which is made if there is none;
 * a role has no rights elsewhere.
 * Repeating it changes nothing. Returns each service's URL.
 */
export async function provision(
  superuserUrl: string,
  passwords: Record<string, string>,
): Promise<Record<string, string>> {
  const named = decodeURIComponent(new URL(superuserUrl).pathname.slice(1));
  const databaseName = named === '' || named === 'postgres' ? databaseDefault : named;
  const database = pg.escapeIdentifier(databaseName);
  await withClient(await reachableUrl(superuserUrl), async (client) => {
    const found = await client.query('select 1 from pg_database where datname = $1', [
      databaseName,
    ]);
    if (found.rowCount === 0) await client.query(`create database ${database}`);
  });
  // Relative file names in the URL become absolute: services have other working folders.
  const databaseUrl = new URL(connectionStringOf(superuserUrl));
  databaseUrl.pathname = `/${encodeURIComponent(databaseName)}`;
  await withClient(databaseUrl.href, async (client) => {
    await client.query('begin');
    await client.query(`revoke all on database ${database} from public`);
    await client.query('revoke all on schema public from public');
    for (const name of serviceNames)
      await provisionService(client, { name, database, password: passwords[name] ?? '' });
    await client.query('commit');
  });
  return Object.fromEntries(
    serviceNames.map((name) => {
      const url = new URL(databaseUrl);
      url.username = name;
      url.password = passwords[name] ?? '';
      return [name, url.href];
    }),
  );
}

type Role = { name: string; password: string; database: string };

async function provisionService(
  client: pg.Client,
  { name, password, database }: Role,
): Promise<void> {
  const found = await client.query('select 1 from pg_roles where rolname = $1', [name]);
  if (found.rowCount === 0) await client.query(`create role ${name} login`);
  await client.query(`alter role ${name} password ${client.escapeLiteral(password)}`);
  // Without full superuser rights, creating a schema for another owner requires membership in its role.
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
async function reachableUrl(superuserUrl: string): Promise<string> {
  try {
    await withClient(superuserUrl, async () => {});
    return superuserUrl;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (!(cause instanceof pg.DatabaseError && cause.code === noSuchDatabase)) throw error;
    const url = new URL(superuserUrl);
    url.pathname = '/postgres';
    return url.href;
  }
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const connectionString = connectionStringOf(url);
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
  } catch (error) {
    const { hostname, port } = new URL(connectionString);
    const reason = isNativeError(error) ? error.message || String(error) : String(error);
    throw new Error(`DATABASE_URL: cannot connect to ${hostname}:${port || 5432}: ${reason}`, {
      cause: error,
    });
  }
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
