import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import {
  givenBroadcast,
  mailsTo,
  readBroadcast,
  sendNow,
  setRate,
  untilFlowing,
} from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { until } from '../stack/until.ts';
import { startStack, type TestStack } from '../stack.ts';

let stack: TestStack;
let root: string;
let server: pg.Client;
beforeAll(async () => {
  stack = await startStack({ replicas: 1 });
  root = await ownerToken(stack.settings);
  const url = new URL(stack.databaseUrl);
  url.pathname = '/postgres';
  server = new pg.Client(url.href);
  await server.connect();
}, 120_000);
afterAll(async () => {
  await server?.end();
  await stack?.stop();
}, 60_000);

const database = 'postrider';

/** Does something that needs the database to itself, while services are kept out. */
async function alone(work: () => Promise<void>): Promise<void> {
  await server.query(`alter database ${database} allow_connections false`);
  try {
    await until('nobody is connected', async () => {
      const of = 'from pg_stat_activity where datname = $1';
      await server.query(`select pg_terminate_backend(pid) ${of}`, [database]);
      return (await server.query(`select 1 ${of}`, [database])).rowCount === 0;
    });
    await work();
  } finally {
    await server.query(`alter database ${database} allow_connections true`);
  }
}

const temporal = () => join(stack.folder, 'temporal');
const olderTemporal = () => join(stack.folder, 'temporal-older');

/** Temporal's files too, as they are at the same moment. */
async function backUp(): Promise<void> {
  await server.query('drop database if exists lost');
  await alone(async () => void (await server.query(`create database backup template ${database}`)));
  stack.processes.freeze('temporal');
  rmSync(olderTemporal(), { recursive: true, force: true });
  cpSync(temporal(), olderTemporal(), { recursive: true });
  stack.processes.thaw('temporal');
}

/** The state of Temporal at a restore. */
const temporals = {
  'as it was': () => {},
  empty: () => rmSync(temporal(), { recursive: true }),
  older: () => {
    rmSync(temporal(), { recursive: true });
    cpSync(olderTemporal(), temporal(), { recursive: true });
  },
};

/**
 * The steps of docs/operations/restore.md: messages, the workers and Temporal are stopped, and the
 * backups take their places.
 */
const restore = (found: keyof typeof temporals) => {
  const workers = stack.processes.names().filter((name) => name.endsWith('-worker'));
  return stack.processes.without(['messages', ...workers, 'temporal'], async () => {
    temporals[found]();
    await replaceDatabase();
  });
};

/** With the settings of its roles. */
async function replaceDatabase(): Promise<void> {
  await alone(async () => {
    await server.query(`alter database ${database} rename to lost`);
    await server.query(`alter database backup rename to ${database}`);
    await server.query(`alter database ${database} allow_connections false`);
    const { rows } = await server.query<{ role: string; config: string[] }>(
      `select r.rolname as role, s.setconfig as config from pg_db_role_setting s
       join pg_roles r on r.oid = s.setrole join pg_database d on d.oid = s.setdatabase where d.datname = 'lost'`,
    );
    for (const { role, config } of rows) {
      for (const each of config) {
        const [name, ...value] = each.split('=');
        const text = server.escapeLiteral(value.join('='));
        await server.query(`alter role ${role} in database ${database} set ${name} = ${text}`);
      }
    }
  });
}

const system = async (operation: string, body?: object) =>
  (await stack.call(`system.${operation}`, body, { token: root })).body;

const untilSent = (emails: string[], count: number) =>
  until(`${count} are sent`, async () => mailsTo(stack, emails).length >= count, {
    withinMs: 60_000,
  });

test.each(['as it was', 'empty', 'older'] as const)(
  'a database that is restored in the middle of a broadcast, with Temporal %s, sends nothing until its operator decides, and nobody twice',
  async (found) => {
    await setRate(stack, 1_200);
    const { id, emails } = await givenBroadcast(stack, 600);
    await sendNow(stack, id);
    await untilFlowing(stack, emails);
    await backUp();
    const sentAtBackup = mailsTo(stack, emails).length;
    await untilSent(emails, sentAtBackup + 60);
    await restore(found);
    const atRestore = mailsTo(stack, emails).length;
    expect(atRestore).toBeLessThan(600);
    await until('the hold is there', async () => (await system('hold')).hold !== undefined, {
      withinMs: 60_000,
    });
    const { hold, broadcasts } = await system('hold');
    expect(hold.reason).toMatch(/^on hold: the database was restored/);
    expect(broadcasts).toMatchObject([{ id, name: expect.any(String), recipients: 600 }]);
    await until(
      'the broadcast says why it waits',
      async () => /on hold/.test((await readBroadcast(stack, id)).pause_reason ?? ''),
      { withinMs: 90_000 },
    );
    expect(await system('releaseHold', { in_doubt: 'cancel' })).toMatchObject({ cancelled: 1 });
    expect(await readBroadcast(stack, id)).toMatchObject({ status: 'cancelled' });
    const mails = mailsTo(stack, emails);
    // Mails in flight in the killed process may have arrived after the count.
    expect(new Set(mails.map(({ email }) => email)).size).toBe(mails.length);
    expect((await system('hold')).hold).toBeUndefined();
    // Broadcasts that begin after the release are sent as usual.
    const next = await givenBroadcast(stack, 20);
    await sendNow(stack, next.id);
    await untilSent(next.emails, 20);
  },
  240_000,
);
