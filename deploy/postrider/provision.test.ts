import { beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { openBroadcastsStore } from '../../services/broadcasts/store.ts';
import { openContactsStore } from '../../services/contacts/store.ts';
import { openMessagesStore } from '../../services/messages/store.ts';
import { openTemplatesStore } from '../../services/templates/store.ts';
import { openWebhooksStore } from '../../services/webhooks/store.ts';
import { openWorkspacesStore } from '../../services/workspaces/store.ts';
import { freePort } from '../local/ports.ts';
import { serviceNames } from './parts.ts';
import { provision } from './provision.ts';

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

const stores = {
  workspaces: openWorkspacesStore,
  contacts: openContactsStore,
  templates: openTemplatesStore,
  broadcasts: openBroadcastsStore,
  messages: openMessagesStore,
  webhooks: openWebhooksStore,
};

test.each(serviceNames)('%s migrates its own schemas, also when it starts again', async (name) => {
  for (let start = 0; start < 2; start += 1) {
    const store = await stores[name](urls[name]!);
    await store.migrate();
    await store.close();
  }
  expect(await as(name, `select count(*)::int > 0 as some from ${name}.migrations`)).toEqual([
    { some: true },
  ]);
  expect(await as(name, `select id from ${name}_jobs.jobs`)).toEqual([]);
});

test.each(serviceNames)('%s can create nothing outside of its own schemas', async (name) => {
  await expect(as(name, 'create schema stray')).rejects.toThrow('permission denied');
  await expect(as(name, 'create table public.stray (n int)')).rejects.toThrow('permission denied');
});

test('a right that was granted before is revoked', async () => {
  const url = new URL(process.env.TEST_POSTGRES_URL!);
  const client = new pg.Client(url.href);
  await client.connect();
  await client.query('grant create on database postrider to contacts');
  await client.end();
  await provision(url.href, passwords);
  await expect(as('contacts', 'create schema stray')).rejects.toThrow('permission denied');
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

test('the database that the URL names is used, and made if it is not there', async () => {
  const url = new URL(process.env.TEST_POSTGRES_URL!);
  url.pathname = '/My%20mail';
  for (let start = 0; start < 2; start += 1) {
    const own = await provision(url.href, passwords);
    expect(new URL(own.contacts!).pathname).toBe('/My%20mail');
  }
  const store = await openContactsStore(new URL(url).href);
  await expect(store.ping()).resolves.toBeUndefined();
  await store.close();
});

test('the error for a server that is not there names the variable and the address', async () => {
  const url = `postgresql://someone:secret@127.0.0.1:${await freePort()}/mail`;
  const failed = provision(url, passwords).catch((error: Error) => error.message);
  expect(await failed).toMatch(
    /^DATABASE_URL: cannot connect to 127.0.0.1:\d+: connect ECONNREFUSED/,
  );
  expect(await failed).not.toContain('secret');
});
