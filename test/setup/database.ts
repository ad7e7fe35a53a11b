import { Client } from 'pg';
import { roleSettings } from '#lib/postgres/role-settings.ts';
import type { Store } from '#lib/postgres/store.ts';
import { checkEvents, keepEvents } from './published-events.ts';

/**
 * A fresh, migrated database for one test file: a copy of a template that is created once per run.
 * Close the store in `afterAll`, which checks the events that were published; the server ends with
 * the run.
 */
export async function testStore(open: (url: string) => Promise<Store>): Promise<Store> {
  const server = new URL(serverUrl());
  const admin = new Client({ connectionString: server.href });
  await admin.connect();
  try {
    const probe = await open(server.href);
    const template = `template_${probe.name}`;
    await probe.close();
    await admin.query('select pg_advisory_lock(hashtext($1))', [template]);
    await makeTemplate(admin, template, server, open);
    const copy = `test_${crypto.randomUUID().replaceAll('-', '')}`;
    await admin.query(`create database ${copy} template ${template}`);
    // A copy lacks the settings that the migration gave the role in the template.
    for (const [name, value] of Object.entries(roleSettings)) {
      await admin.query(`alter role current_user in database ${copy} set ${name} = '${value}'`);
    }
    const store = await open(withDatabase(server, copy));
    return Object.assign(store, { close: closing(store) });
  } finally {
    await admin.end();
  }
}

function closing({ url, close }: Store): () => Promise<void> {
  return async () => {
    try {
      await checkEvents(url);
    } finally {
      await close();
    }
  };
}

async function makeTemplate(
  admin: Client,
  template: string,
  server: URL,
  open: (url: string) => Promise<Store>,
): Promise<void> {
  const known = await admin.query('select 1 from pg_database where datname = $1', [template]);
  if (known.rowCount) return;
  await admin.query(`create database ${template}`);
  const store = await open(withDatabase(server, template));
  await store.migrate();
  await store.close();
  const client = new Client({ connectionString: withDatabase(server, template) });
  await client.connect();
  await keepEvents(client, [store.name]);
  await client.end();
}

function withDatabase(server: URL, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

function serverUrl(): string {
  const url = process.env.TEST_POSTGRES_URL;
  if (!url) throw new Error('TEST_POSTGRES_URL is not set: run tests through jest');
  return url;
}
