import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import type { DemoApi } from '../deploy/demo/api.ts';
import { startBenchStack } from './bench-stack.ts';

const few = 1_000;
const warmUps = 30;

type Reading = { name: string; operation: string; query: Record<string, string> };

/** Half-way through the contacts, so that no reading profits from where it begins. */
const readings: Reading[] = [
  { name: 'list, first page', operation: 'contacts.list', query: { limit: '100' } },
  {
    name: 'list, with lists',
    operation: 'contacts.list',
    query: { limit: '100', with_contact_lists: 'true' },
  },
  { name: 'list of a list', operation: 'contacts.list', query: { list_id: 'bench' } },
  { name: 'list by part of an address', operation: 'contacts.list', query: { email: 'son500@' } },
  { name: 'list by part of a name', operation: 'contacts.list', query: { first_name: 'son 500' } },
  {
    name: 'getByEmail',
    operation: 'contacts.getByEmail',
    query: { email: 'person500@example.com' },
  },
  {
    name: 'getByExternalID',
    operation: 'contacts.getByExternalID',
    query: { external_id: 'id-500' },
  },
  {
    name: 'getContactsByList',
    operation: 'contactLists.getContactsByList',
    query: { list_id: 'bench', limit: '100' },
  },
];

/** The cost of reads with a thousand contacts in the workspace, and with a million. */
export async function benchContacts(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      contacts: { type: 'string', default: '1000000' },
      calls: { type: 'string', default: '200' },
    },
  });
  const stack = await startBenchStack();
  try {
    const { api, workspaceId, folder } = stack;
    await api('lists.create', {
      body: { workspace_id: workspaceId, id: 'bench', name: 'Bench' },
    });
    const calls = Number(values.calls);
    await fill(folder, workspaceId, [1, few]);
    const small = await timeAll(api, workspaceId, calls);
    await fill(folder, workspaceId, [few + 1, Number(values.contacts)]);
    const large = await timeAll(api, workspaceId, calls);
    console.log(`\n  median ms            with ${few}   with ${values.contacts}   ratio`);
    for (const { name } of readings) {
      const [before = 0, after = 0] = [small.get(name), large.get(name)];
      const columns = [before.toFixed(2), after.toFixed(2), (after / before).toFixed(2)];
      console.log(`  ${name.padEnd(28)}${columns.map((text) => text.padStart(12)).join('')}`);
    }
  } finally {
    await stack.stop();
  }
}

/** By SQL, each contact a second older than the one before, all on the list. */
async function fill(folder: string, workspaceId: string, [from, to]: [number, number]) {
  const { postgresPassword } = JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8'));
  const { port } = new URL(
    /^BASE_URL=(.*)$/m.exec(readFileSync(join(folder, 'env'), 'utf8'))?.[1] ?? '',
  );
  const client = new Client({
    connectionString: `postgresql://postrider:${postgresPassword}@127.0.0.1:${Number(port) + 5}/postrider`,
  });
  await client.connect();
  await client.query(
    `insert into contacts.contacts (workspace_id, email, external_id, first_name, created_at, updated_at)
     select $1, 'person' || n || '@example.com', 'id-' || n, 'Person ' || n, at, at
     from generate_series($2::int, $3::int) n, lateral (select now() - n * interval '1 second' as at) time`,
    [workspaceId, from, to],
  );
  await client.query(
    `insert into contacts.memberships (workspace_id, list_id, email, status, created_at, updated_at)
     select $1, 'bench', email, 'active', created_at, created_at
     from contacts.contacts where external_id = any(
       select 'id-' || n from generate_series($2::int, $3::int) n)`,
    [workspaceId, from, to],
  );
  await client.query('vacuum analyze contacts.contacts, contacts.memberships');
  await client.end();
}

async function timeAll(api: DemoApi, workspaceId: string, calls: number) {
  const medians = new Map<string, number>();
  for (const { name, operation, query } of readings) {
    const call = () => api(operation, { query: { workspace_id: workspaceId, ...query } });
    for (let count = 0; count < warmUps; count += 1) await call();
    const times: number[] = [];
    for (let count = 0; count < calls; count += 1) {
      const before = performance.now();
      await call();
      times.push(performance.now() - before);
    }
    medians.set(name, times.toSorted((a, b) => a - b)[Math.floor(calls / 2)] ?? 0);
  }
  return medians;
}
