import pg from 'pg';
import { serviceNames } from '../../deploy/postrider/parts.ts';
import {
  ask,
  provisionByProgram,
  type Server,
  serviceUrls,
  startServer,
  urlVariables,
  withoutTls,
} from './databases.ts';
import { postgres15Programs } from './programs/postgres.ts';
import type { Rig } from './rig.ts';
import { kills, sendThrough, startStackOn } from './sending.ts';

const killEveryMs = 5_000;

/** PostgreSQL 18 and 15 that take TLS alone, provisioned by a role that is no superuser. */
export const postgres18 = (rig: Rig): Promise<void> => onPostgres(rig, undefined);
export const postgres15 = async (rig: Rig): Promise<void> =>
  onPostgres(rig, await postgres15Programs(rig.say));

async function onPostgres(rig: Rig, programs: string | undefined): Promise<void> {
  const server = await startServer(rig, { isTlsOnly: true, ...(programs && { programs }) });
  await rig.check('it takes no connection without TLS', () => refusal(server));
  const operator = await givenOperator(server);
  const urls = serviceUrls(operator, () => 'postrider');
  await rig.check('migrate --provision needs no superuser', () =>
    provisionByProgram(operator, urls),
  );
  const stack = await startStackOn(rig, {
    replicas: 2,
    environment: urlVariables(urls),
    messagesUrl: server.url('postrider'),
  });
  await rig.check('every process connects over TLS as an ordinary role', () => roles(server));
  await rig.check('nobody is lost when it is killed during a broadcast', () =>
    sendThrough(rig, stack, {
      recipients: 2_000,
      schedule: kills(['postgres', 'messages-2', 'postgres'], killEveryMs),
    }),
  );
}

async function refusal(server: Server): Promise<string> {
  const [found] = await ask<{ version: string }>(
    server.url('postgres'),
    `select current_setting('server_version') as version`,
  );
  const refused = await ask(withoutTls(server.url('postgres')), 'select 1').catch(
    (error: Error) => error.message,
  );
  if (typeof refused !== 'string' || !refused.includes('no encryption')) {
    throw new Error(`a connection without TLS got ${JSON.stringify(refused)}`);
  }
  return `PostgreSQL ${found?.version}`;
}

/** As managed databases give their customers: it may make databases and roles. */
async function givenOperator(server: Server): Promise<string> {
  await ask(
    server.url('postgres'),
    `create role operator login nosuperuser createdb createrole password 'operator'`,
  );
  const url = new URL(server.url('postrider'));
  url.username = 'operator';
  url.password = 'operator';
  return url.href;
}

type Connected = { role: string; superuser: boolean; ssl: boolean };

async function roles(server: Server): Promise<string> {
  const names = serviceNames.map((name) => pg.escapeLiteral(name)).join(', ');
  const rows = await ask<Connected>(
    server.url('postrider'),
    `select distinct usename as role, rolsuper as superuser, ssl from pg_stat_activity
     join pg_stat_ssl using (pid) join pg_roles on rolname = usename where usename in (${names})`,
  );
  const bad = rows.filter(({ superuser, ssl }) => superuser || !ssl);
  if (bad.length > 0 || rows.length < serviceNames.length) {
    throw new Error(`connections are ${JSON.stringify(rows)}`);
  }
  return `${rows.length} roles`;
}
