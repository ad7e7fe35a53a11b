import type pg from 'pg';
import { consumersOf } from '#lib/events/contracts.ts';
import { eventConnections } from '#lib/events/event-runner.ts';
import { databaseVariable } from '#lib/postgres/config.ts';
import type { PoolSizes } from '#lib/process/config.ts';
import { newClient } from '../client.ts';
import { openServiceStore } from '../migrate.ts';
import { type ServiceName, words } from '../parts.ts';
import { clockFinding, type Finding, ok, reasonOf, warning, wrong } from './finding.ts';

const versionMin = 150_000;
const connectTimeoutMs = 5_000;

export type Database = { name: ServiceName; url: string };

type Facts = {
  version: number;
  role: string;
  schema: string | null;
  is_superuser: boolean;
  may_create: boolean;
  encoding: string;
  statement_timeout: string;
  idle_timeout: string;
  fsync: string;
  synchronous_commit: string;
  full_page_writes: string;
  pid: number;
  now_ms: number;
};

const factsSql = `select current_setting('server_version_num')::int as version, current_user as role,
  current_schema() as schema, rolsuper as is_superuser,
  coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create,
  current_setting('server_encoding') as encoding,
  current_setting('statement_timeout') as statement_timeout,
  current_setting('idle_in_transaction_session_timeout') as idle_timeout,
  current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
  current_setting('full_page_writes') as full_page_writes, pg_backend_pid() as pid,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms
  from pg_roles where rolname = current_user`;

/** Whether a service can work with its database. */
export async function checkDatabase({ name, url }: Database): Promise<Finding[]> {
  const about = databaseVariable(name);
  const client = newClient(url, connectTimeoutMs);
  try {
    await client.connect();
    const before = Date.now();
    const { rows } = await client.query<Facts>(factsSql);
    const after = Date.now();
    const [facts] = rows;
    if (!facts) throw new Error('the role cannot read pg_roles');
    const { processID } = client as pg.Client & { processID: number };
    return [
      ...settingsFindings(about, name, facts),
      ...pooler(about, facts.pid !== processID),
      clockFinding(about, facts.now_ms, { before, after }),
      await checkSchema(about, name, url),
    ];
  } catch (error) {
    return [wrong(about, `cannot be used: ${reasonOf(error)}`, remedyOf(error))];
  } finally {
    await client.end().catch(() => {});
  }
}

function settingsFindings(about: string, name: string, facts: Facts): Finding[] {
  const version = `PostgreSQL ${Math.floor(facts.version / 10_000)}`;
  const findings = [
    facts.version >= versionMin
      ? ok(about, version)
      : wrong(about, `${version} is too old`, 'use PostgreSQL 15 or later'),
  ];
  if (facts.encoding !== 'UTF8') {
    const remedy = "create database postrider encoding 'UTF8' template template0";
    findings.push(wrong(about, `the database is in ${facts.encoding}`, remedy));
  }
  if (facts.is_superuser) {
    const remedy = 'postrider migrate --provision makes a role for each service';
    findings.push(warning(about, `${facts.role} is a superuser`, remedy));
  }
  if (!facts.may_create) {
    const remedy = `postrider migrate ${name} --provision, or: create schema ${name} authorization ${facts.role}; alter role ${facts.role} set search_path = ${name}`;
    findings.push(wrong(about, 'the role has no schema that it may create tables in', remedy));
  }
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes'] as const) {
    if (facts[setting] !== 'off') continue;
    const remedy = `alter system set ${setting} = on: a power cut would lose what was answered as stored`;
    findings.push(warning(about, `${setting} is off`, remedy));
  }
  for (const [setting, value, wanted] of [
    ['statement_timeout', facts.statement_timeout, '15s'],
    ['idle_in_transaction_session_timeout', facts.idle_timeout, '30s'],
  ] as const) {
    if (value !== '0') continue;
    const remedy = `alter role ${facts.role} set ${setting} = '${wanted}'`;
    findings.push(warning(about, `${setting} is not set`, remedy));
  }
  return findings;
}

/** A pooler hands out process ids of its own. */
function pooler(about: string, isBetween: boolean): Finding[] {
  if (!isBetween) return [];
  const text =
    'a pooler such as pgbouncer is in between: without LISTEN, jobs begin up to a second later';
  const remedy =
    'pgbouncer 1.21 or later with max_prepared_statements, and a URL for each service (deploy/README.md)';
  return [warning(about, text, remedy)];
}

async function checkSchema(about: string, name: ServiceName, url: string): Promise<Finding> {
  const store = await openServiceStore(name, url);
  try {
    const pending = await store.pendingMigrations();
    if (pending.length === 0) return ok(about, 'all migrations have run');
    return wrong(about, `${pending.length} migrations are missing`, `postrider migrate ${name}`);
  } finally {
    await store.close();
  }
}

const remedies: Record<string, string> = {
  ECONNREFUSED: 'start PostgreSQL, or correct host and port',
  ENOTFOUND: 'correct the host',
  '28P01': 'correct the password, or run postrider migrate --provision',
  '28000': 'correct the user, or run postrider migrate --provision',
  '3D000': 'run postrider migrate --provision, which makes the database',
};

function remedyOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return remedies[code] ?? 'correct the URL';
}

/** Of every service; messages has more. */
export type Pools = PoolSizes & { messages: number };

const withSlowTasks = ['workspaces', 'messages'];

/** Whether one process of each service and worker fits into the connections of their server. */
export async function checkConnections(databases: readonly Database[], pools: Pools) {
  const servers = Map.groupBy(databases, ({ url }) => new URL(url).host);
  const findings = await Promise.all(
    [...servers].map(([host, used]) => connectionsOf(host, used, pools)),
  );
  return findings.flat();
}

async function connectionsOf(host: string, used: Database[], pools: Pools): Promise<Finding[]> {
  const wanted = used.reduce((sum, { name }) => sum + poolsOf(name, pools), 0);
  const client = newClient(used[0]?.url ?? '', connectTimeoutMs);
  try {
    await client.connect();
    const { rows } = await client.query<{ most: number }>(
      `select current_setting('max_connections')::int
         - current_setting('superuser_reserved_connections')::int as most`,
    );
    const most = rows[0]?.most ?? 0;
    const text = `pools of one process each may open ${wanted} connections; the server at ${host} has ${most}`;
    if (wanted <= most) return [ok('connections', text)];
    const remedy = `alter system set max_connections = ${Math.ceil((wanted * 1.2) / 10) * 10}, or lower DATABASE_CONNECTIONS and JOB_CONNECTIONS`;
    return [warning('connections', text, remedy)];
  } catch {
    // Named by the check of the database.
    return [];
  } finally {
    await client.end().catch(() => {});
  }
}

/** Which parts of a service open a pool of connections of their own. */
export const openersOf = (name: string) => ({
  hasSlowTasks: withSlowTasks.includes(name),
  hasEvents: consumersOf(name).length > 0,
  hasWorker: words.includes(`${name}-worker`),
});

function poolsOf(name: string, { databaseConnections, jobConnections, messages }: Pools): number {
  const { hasSlowTasks, hasEvents, hasWorker } = openersOf(name);
  return (
    (hasWorker ? 2 : 1) * databaseConnections +
    (hasSlowTasks ? 2 : 1) * jobConnections +
    (hasEvents ? eventConnections : 0) +
    (name === 'messages' ? messages : 0)
  );
}
