import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { exampleOf, exampleSender, inOrder } from '../api/examples.ts';
import { borrowedStack } from '../stack/shared.ts';

/** How often PostgreSQL plans the statements of requests. */

const stack = borrowedStack();
beforeAll(() => countPlans(), 60_000);
afterAll(() => restore());

const rounds = 40;
/** A connection plans twice before it prepares a text, and six times before it keeps the plan. */
const plansOfConnection = 8;
/** On a busy machine, where connections come and go, at least those are found that always are. */
const plannedPartMax = 0.95;
/** In a comment of a statement, behind the reason. */
const excuse = ': planned each time */';
/** Deletions of workspaces go on behind the requests that ask for them; DNS takes its time. */
const isRepeated = ({ path }: { path: string }) =>
  !/workspaces\.(create|delete)$|domains\.verify$/.test(path);

/** Has the stack's PostgreSQL count plans, which takes a restart. */
async function countPlans(): Promise<void> {
  await asSuperuser(async (client) => {
    await client.query("alter system set shared_preload_libraries = 'pg_stat_statements'");
    await client.query("alter system set pg_stat_statements.track_planning = 'on'");
    await client.query("alter system set pg_stat_statements.track = 'all'");
    // New statistics have all statements of a table planned again.
    await client.query("alter system set autovacuum = 'off'");
  });
  const pid = stack.processes.pid('postgres');
  stack.processes.kill('postgres');
  await stack.processes.untilReplaced('postgres', pid);
  await stack.untilServing();
  await asSuperuser((client) => client.query('create extension if not exists pg_stat_statements'));
}

/** Other files borrow the stack. */
async function restore(): Promise<void> {
  await asSuperuser(async (client) => {
    await client.query('alter system reset autovacuum');
    await client.query('select pg_reload_conf()');
  });
}

async function asSuperuser<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

type Counted = { service: string; text: string; plans: number; calls: number };

/** The statements of services since the last reset. */
const countedSql = `select rolname as service, query as text, plans::int, calls::int
  from pg_stat_statements statement
  join pg_database on pg_database.oid = statement.dbid and datname = current_database()
  join pg_roles on pg_roles.oid = statement.userid and rolname <> current_user
  -- Jobs have a runner of their own.
  where calls >= ${rounds} and query not like '%_private_%' and query not like '%${excuse}%'`;

const connectionsSql = `select usename as service, pid from pg_stat_activity
  where datname = current_database() and usename <> current_user`;

test('no statement is planned more often than once a connection', async () => {
  const send = await exampleSender(stack);
  const connections = new Map<string, Set<number>>();
  const plannedAgain = ({ service, plans, calls }: Counted) => {
    const prepared = plansOfConnection * (connections.get(service)?.size ?? 0);
    return plans > Math.min(calls / 20 + prepared, calls * plannedPartMax);
  };
  await asSuperuser(async (client) => {
    const noteConnections = async () => {
      for (const { service, pid } of (await client.query(connectionsSql)).rows) {
        connections.set(service, (connections.get(service) ?? new Set()).add(pid));
      }
    };
    const countRounds = async (): Promise<Counted[]> => {
      await client.query('select pg_stat_statements_reset()');
      for (let round = 0; round < rounds; round += 1) {
        for (const route of inOrder.filter(isRepeated)) await send(route, exampleOf(route));
        await noteConnections();
      }
      return (await client.query<Counted>(countedSql)).rows;
    };
    // Two processes would take turns, and have as many connections more.
    await stack.processes.without(['messages-2'], async () => {
      const counted = await countRounds();
      expect(counted.length).toBeGreaterThan(100);
      let again = counted.filter(plannedAgain);
      // Ten connections that take turns are all still new after forty calls.
      for (let left = 3; again.length > 0 && left > 0; left -= 1) {
        const later = (await countRounds()).filter(plannedAgain);
        again = later.filter(({ text }) => again.some((each) => each.text === text));
      }
      expect(again).toEqual([]);
    });
  });
}, 900_000);
