import { expect, test } from '@jest/globals';
import pg from 'pg';
import { keptSchema } from '../setup/published-events.ts';
import {
  draftOf,
  givenList,
  givenTemplate,
  good,
  importContacts,
  mailsTo,
  sendNow,
  unique,
  untilStatus,
} from '../stack/given.ts';
import { givenWebhook } from '../stack/given-webhook.ts';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import type { TestStack } from '../stack.ts';

/** A person in every place where the API can put an address, exported and then erased. */

const stack = borrowedStack();

async function givenTenant(): Promise<TestStack> {
  const { id: workspaceId } = await givenWorkspace(stack);
  const token = await ownerToken(stack.settings);
  const call: TestStack['call'] = (operation, body, options) =>
    stack.call(operation, body, { token, ...options });
  const tenant = { ...stack, workspaceId, call };
  const query = { id: workspaceId };
  const { workspace } = good(await call('workspaces.get', undefined, { query }));
  const settings = { ...workspace.settings, message_content_days: 30 };
  good(await call('workspaces.update', { id: workspaceId, name: 'New', settings }));
  return tenant;
}

/**
 * The tables with rows that have a text in any column, also in bytes; those of `but` are left out.
 */
async function tablesWith(text: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema !~ '^(pg_|information_schema|${keptSchema})' order by 1`,
    );
    const found: string[] = [];
    for (const { name } of rows) {
      const hex = Buffer.from(text).toString('hex');
      const { rowCount } = await client.query(
        `select from ${name} held where strpos(lower(held::text), $1) > 0 or strpos(held::text, $2) > 0 limit 1`,
        [text, hex],
      );
      if (rowCount) found.push(name);
    }
    return found;
  } finally {
    await client.end();
  }
}

async function exported({ call, workspaceId: workspace_id }: TestStack, email: string) {
  const { records } = good(
    await call('contacts.export', undefined, { query: { workspace_id, email } }),
  );
  return records as { kind: string; data: Record<string, unknown> }[];
}

async function givenEverywhere(tenant: TestStack, email: string) {
  const { call, workspaceId: workspace_id } = tenant;
  const does = async (operation: string, body: object, options = {}) =>
    good(await call(operation, { workspace_id, ...body }, options));
  const webhook = await givenWebhook(tenant, ['contact.created', 'list.subscribed', 'email.sent']);
  const [left, news] = [await givenList(tenant), await givenList(tenant)];
  await does('contacts.upsert', {
    contact: { email, external_id: email, first_name: email, custom_json_1: { email } },
  });
  await does('contacts.upsert', { contact: { email, last_name: email } });
  for (const list of [left, news]) {
    await does('lists.subscribe', { contact: { email }, list_ids: [list] });
  }
  await does('contactLists.updateStatus', { email, list_id: left, status: 'unsubscribed' });
  await does('customEvents.upsert', {
    ...{ event_name: 'order', external_id: email, email, properties: { email } },
    occurred_at: new Date().toISOString(),
  });
  const leaf = { source: 'contact_lists', contact_list: { operator: 'in', list_id: news } };
  await does('segments.create', {
    ...{ id: unique('s'), name: 'S', color: 'red', timezone: 'UTC', tree: { kind: 'leaf', leaf } },
  });
  const templateId = await givenTemplate(tenant);
  const id = unique('receipt').slice(0, 32);
  const channels = { email: { template_id: templateId } };
  await does('transactional.create', { notification: { id, name: 'Receipt', channels } });
  const content = Buffer.from(email).toString('base64');
  const file = { filename: 'a.txt', content, content_type: 'text/plain' };
  const notification = {
    ...{ id, contact: { email }, channels: ['email'], external_id: unique('order') },
    ...{ data: { email }, metadata: { email } },
    email_options: { cc: [`cc-${email}`], attachments: [{ ...file, disposition: 'attachment' }] },
  };
  await does('transactional.send', { notification });
  const body = draftOf(tenant, { listId: news, templateId });
  await importContacts(tenant, news, 2);
  const { broadcast } = good(await call('broadcasts.create', body));
  await sendNow(tenant, broadcast.id);
  await untilStatus(tenant, broadcast.id, 'sent');
  await until('both mails arrive', async () => mailsTo(tenant, [email]).length >= 2);
  await does('suppressions.add', { email, note: `asked from ${email} to be left alone` });
  await webhook.untilCalled(['contact.created', 'list.subscribed', 'email.sent'], email);
  return { does, left, news, broadcastId: broadcast.id as string };
}

test('what is kept about a person is exported, and after it is erased the address is kept in the documented places alone', async () => {
  const tenant = await givenTenant();
  const email = `${unique('person')}@example.com`;
  const { does, left, news, broadcastId } = await givenEverywhere(tenant, email);
  const kindsOf = async () => new Set((await exported(tenant, email)).map(({ kind }) => kind));
  const kinds = 'contact list segment custom_event timeline_entry suppression message';
  const wanted = [...kinds.split(' '), 'webhook_delivery'];
  await until('all of it is exported', async () => {
    const found = await kindsOf();
    return wanted.every((kind) => found.has(kind));
  });
  const messages = (await exported(tenant, email)).filter(({ kind }) => kind === 'message');
  expect(messages).toHaveLength(2);
  await until('contents are exported', async () =>
    (await exported(tenant, email)).some(({ data }) => data.content !== undefined),
  );

  expect(await tablesWith(email)).toEqual(
    expect.arrayContaining([
      'contacts.contacts',
      'contacts.custom_events',
      'contacts.memberships',
      'contacts.segment_members',
      'contacts.timeline_entries',
      'messages.messages',
      'messages.suppressions',
      'webhooks.events',
    ]),
  );

  await does('contacts.delete', { email });
  const documented = [
    // Never mail them again.
    'messages.suppressions',
    // The job that looks for deliveries that come late.
    'webhooks_jobs._private_jobs',
    // For a minute: the job that looks for messages that were written meanwhile.
    'messages_jobs._private_jobs',
  ];
  await until(
    'the address is in the documented places alone',
    async () => (await tablesWith(email)).every((table) => documented.includes(table)),
    { withinMs: 30_000 },
  );
  expect(await exported(tenant, email)).toMatchObject([
    { kind: 'refusal', data: { list_id: left, status: 'unsubscribed' } },
    { kind: 'suppression', data: { email, reason: 'opted_out', note: null } },
  ]);

  const { stats } = good(
    await tenant.call('messages.broadcastStats', undefined, {
      query: { workspace_id: tenant.workspaceId, broadcast_id: broadcastId },
    }),
  );
  expect(stats.total_sent ?? stats.sent).toBe(3);
  await does('contacts.import', { contacts: [{ email }], subscribe_to_lists: [left, news] });
  const lists = (await exported(tenant, email)).filter(({ kind }) => kind === 'list');
  expect(lists.map(({ data }) => [data.list_id, data.status])).toEqual(
    expect.arrayContaining([
      [left, 'unsubscribed'],
      [news, 'active'],
    ]),
  );
}, 90_000);
