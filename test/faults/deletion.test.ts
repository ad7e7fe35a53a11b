import { beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTokenMaker } from '../../services/messages/links/token.ts';
import { createCall } from '../stack/client.ts';
import {
  givenBroadcast,
  givenList,
  good,
  importContacts,
  mailsTo,
  sendNow,
  unique,
  untilFlowing,
} from '../stack/given.ts';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { keyringIn } from '../stack/keys.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import type { TestStack } from '../stack.ts';

const stack = borrowedStack();
let owner: string;
beforeAll(async () => {
  owner = await ownerToken(stack.settings);
}, 60_000);

/** A workspace of its own, as a stack of which only that is seen, with an API key. */
async function givenTenant(): Promise<TestStack> {
  const { id: workspaceId } = await givenWorkspace(stack);
  const body = { workspace_id: workspaceId, email_prefix: unique('key') };
  const { token } = good(await stack.call('workspaces.createAPIKey', body, { token: owner }));
  const call = createCall(stack.settings.BASE_URL ?? '', token);
  return { ...stack, workspaceId, call };
}

async function remove({ workspaceId }: TestStack): Promise<void> {
  good(await stack.call('workspaces.delete', { id: workspaceId }, { token: owner }));
}

async function servicesLeft({ workspaceId }: TestStack): Promise<string[] | undefined> {
  const query = { id: workspaceId };
  const answer = await stack.call('workspaces.deletion', undefined, { query, token: owner });
  return answer.status === 200 ? answer.body.left : undefined;
}

/** The tables of all services that have rows of a workspace. */
async function tablesLeft(workspaceId: string): Promise<string[]> {
  const client = new pg.Client(stack.databaseUrl);
  await client.connect();
  try {
    const { rows } = await client.query(
      `select table_schema || '.' || table_name as name from information_schema.columns
       join information_schema.tables using (table_schema, table_name)
       where column_name = 'workspace_id' and table_type = 'BASE TABLE'`,
    );
    const left: string[] = [];
    for (const { name } of rows) {
      const found = await client.query(`select 1 from ${name} where workspace_id = $1 limit 1`, [
        workspaceId,
      ]);
      if (found.rowCount) left.push(name);
    }
    return left;
  } finally {
    await client.end();
  }
}

/** Whether a table empties by itself. */
const isQueue = (table: string) =>
  ['messages.uncounted_broadcasts', 'messages.message_requests'].includes(table);

/** The paths of the pages for the recipient of a mail. */
async function pagesOf(tenant: TestStack, email: string): Promise<string[]> {
  const { call, workspaceId, settings } = tenant;
  const query = { workspace_id: workspaceId, contact_email: email };
  const { messages } = good(await call('messages.list', undefined, { query }));
  const keyring = keyringIn(tenant.folder, 'messages');
  const token = createTokenMaker(keyring)(workspaceId, messages[0].id);
  return ['u', 'p', 'c'].map((page) => `${settings.BASE_URL}/${page}/${workspaceId}/${token}`);
}

async function expectHarmless(pages: readonly string[]) {
  for (const page of pages) {
    for (const method of ['GET', 'POST']) {
      const body = method === 'POST' ? { body: new URLSearchParams({ x: '1' }) } : {};
      const { status } = await fetch(page, { method, ...body });
      expect([page, method, status < 500]).toEqual([page, method, true]);
    }
  }
}

test('a deleted workspace is refused and sends nothing within two seconds, and its links answer harmlessly', async () => {
  const tenant = await givenTenant();
  const { workspaceId, settings } = tenant;
  const { id, listId, emails } = await givenBroadcast(tenant, 1_000);
  await sendNow(tenant, id);
  await untilFlowing(tenant, emails);
  const pages = await pagesOf(tenant, mailsTo(tenant, emails)[0]?.email ?? '');
  const query = { workspace_id: workspaceId };
  const count = async (token?: string) =>
    (await tenant.call('contacts.count', undefined, { query, ...(token ? { token } : {}) })).status;
  const form = {
    workspace_id: workspaceId,
    contact: { email: 'a@example.com' },
    list_ids: [listId],
  };
  const subscribe = () =>
    fetch(`${settings.BASE_URL}/subscribe`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(form),
    });
  await remove(tenant);
  const deletedAtMs = Date.now();
  await until(
    'keys, sessions and forms are refused',
    async () =>
      (await count()) === 401 && (await count(owner)) === 403 && (await subscribe()).status === 400,
    { withinMs: 10_000 },
  );
  await until('nothing is left', async () => {
    await expectHarmless(pages);
    return (await servicesLeft(tenant))?.length === 0;
  });
  await until(
    'what was written late is gone as well',
    async () => (await tablesLeft(workspaceId)).length === 0,
  );
  // At ten a second, the rest would take more than a minute.
  const sent = mailsTo(tenant, emails);
  expect(sent.filter(({ atMs }) => atMs > deletedAtMs + 2_000)).toEqual([]);
  expect(sent.length).toBeLessThan(emails.length);
  await until("the pages have forgotten the sender's name", async () => {
    const shown = await Promise.all(pages.map(async (page) => (await fetch(page)).text()));
    return !shown.some((text) => text.includes('class="sender"'));
  });
  await expectHarmless(pages);
  expect(mailsTo(tenant, emails)).toHaveLength(sent.length);
}, 120_000);

/** Keeps one row of each table from being erased until `work` is done. */
async function holdingRows(tables: string[], workspaceId: string, work: () => Promise<void>) {
  const client = new pg.Client(stack.databaseUrl);
  await client.connect();
  try {
    await client.query('begin');
    for (const table of tables) {
      const text = `select from ${table} where workspace_id = $1 limit 1 for update`;
      expect((await client.query(text, [workspaceId])).rowCount).toBe(1);
    }
    await work();
  } finally {
    await client.end();
  }
}

test('a deletion goes on after contacts, messages and workspaces were killed in the middle', async () => {
  const tenant = await givenTenant();
  const { workspaceId } = tenant;
  const { id, emails } = await givenBroadcast(tenant, 20);
  await importContacts(tenant, await givenList(tenant), 5_000);
  await sendNow(tenant, id);
  await until('all is sent', async () => mailsTo(tenant, emails).length === emails.length);
  const others = (await tablesLeft(stack.workspaceId)).filter((table) => !isQueue(table));
  const held = ['contacts.contacts', 'messages.messages'];
  await holdingRows(held, workspaceId, async () => {
    await remove(tenant);
    // By then both wait for the rows that are held, with other tables erased.
    await until('both are in the middle', async () => {
      const left = await tablesLeft(workspaceId);
      return !left.includes('contacts.memberships') && !left.includes('messages.notifications');
    });
    for (const name of ['contacts', 'messages', 'messages-2', 'workspaces']) {
      tenant.processes.kill(name);
    }
    await stack.untilServing();
    expect(await tablesLeft(workspaceId)).toEqual(expect.arrayContaining(held));
  });
  await until('nothing is left', async () => (await servicesLeft(tenant))?.length === 0, {
    withinMs: 100_000,
  });
  expect(await tablesLeft(workspaceId)).toEqual([]);
  expect(await tablesLeft(stack.workspaceId)).toEqual(expect.arrayContaining(others));
}, 150_000);
