import { beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { openWorkspacesStore } from '../../services/workspaces/store.ts';
import { provision } from './provision.ts';
import { serviceNames } from './stack-config.ts';

const passwords = Object.fromEntries(serviceNames.map((name) => [name, `secret of ${name}`]));
let urls: Record<string, string>;

beforeAll(async () => {
  urls = await provision(process.env.TEST_POSTGRES_URL!, passwords);
});

async function as(name: string, text: string): Promise<unknown[]> {
  const client = new pg.Client(urls[name]);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test('a service migrates its own schema, also when it starts again', async () => {
  for (let start = 0; start < 2; start += 1) {
    const store = await openWorkspacesStore(urls.workspaces!);
    await store.migrate();
    await store.close();
  }
  expect(await as('workspaces', 'select id from workspaces')).toEqual([]);
});

test('a role has its settings and no rights in the schemas of others', async () => {
  expect(await as('contacts', 'show statement_timeout')).toEqual([{ statement_timeout: '15s' }]);
  await as('contacts', 'create table if not exists kept (n int)');
  await expect(as('messages', 'select * from contacts.kept')).rejects.toThrow('permission denied');
  await expect(as('messages', 'create table public.stray (n int)')).rejects.toThrow(
    'permission denied',
  );
});

test('provision can be repeated', async () => {
  expect(await provision(process.env.TEST_POSTGRES_URL!, passwords)).toEqual(urls);
});
