import { beforeAll, expect, test } from '@jest/globals';
import { good, unique } from '../stack/given.ts';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';

/*
 * The requests of public clients for the implementation whose API this is, with an API key: the
 * app for Zapier (Notifuse/zapier, b502a99 and 859ad47), and the community node for n8n
 * (PentatonicDev/n8n-nodes-notifuse, 0b3068d). Each expects the fields that these clients read.
 */

const stack = borrowedStack();
let workspaceId: string;
let token: string;

type Body = Record<string, unknown>;
const read = async (operation: string, query: Record<string, string> = {}) =>
  good(
    await stack.call(operation, undefined, {
      query: { workspace_id: workspaceId, ...query },
      token,
    }),
  );
const call = (operation: string, body: Body) =>
  stack.call(operation, { workspace_id: workspaceId, ...body }, { token });
const write = async (operation: string, body: Body) => good(await call(operation, body));

const list = unique('list');
const notification = unique('n');
const template = unique('t');
const email = `${unique('ann')}@example.com`;
const mjml = '<mjml><mj-body></mj-body></mjml>';

beforeAll(async () => {
  ({ id: workspaceId } = await givenWorkspace(stack));
  token = await ownerToken(stack.settings);
  token = String((await write('workspaces.createAPIKey', { email_prefix: unique('z') })).token);
  await write('lists.create', { id: list, name: 'Readers' });
  await write('templates.create', {
    ...{ id: template, name: 'Receipt', channel: 'email', category: 'transactional' },
    email: { editor_mode: 'code', subject: 'Receipt', mjml_source: mjml },
  });
  await write('transactional.create', {
    notification: {
      id: notification,
      name: 'Receipt',
      channels: { email: { template_id: template } },
    },
  });
});

test('Zapier fills its menus', async () => {
  const workspaces = good(await stack.call('workspaces.list', undefined, { token }));
  expect(workspaces).toMatchObject([{ id: workspaceId, name: 'New', settings: {} }]);
  expect((await read('lists.list')).lists).toMatchObject([{ id: list, name: 'Readers' }]);
  expect((await read('segments.list')).segments).toEqual([]);
  const page = (offset: string) => read('transactional.list', { limit: '200', offset });
  expect((await page('0')).notifications).toMatchObject([
    { id: notification, name: 'Receipt', channels: { email: {} } },
  ]);
  expect((await page('200')).notifications).toEqual([]);
});

test('a Zap is turned on, found again and turned off', async () => {
  const url = `https://hooks.zapier.com/hooks/standard/1/${unique('hook')}/`;
  const event_types = ['list.subscribed', 'list.confirmed', 'list.resubscribed'];
  const body = { name: 'Zapier — New List Subscriber', url, event_types, list_ids: [list] };
  const { subscription } = await write('webhookSubscriptions.create', {
    ...body,
    source: 'zapier',
  });
  const { subscriptions } = await read('webhookSubscriptions.list');
  expect(subscriptions).toMatchObject([
    { id: subscription.id, url, source: 'zapier', enabled: true, event_types, list_ids: [list] },
  ]);
  await write('webhookSubscriptions.delete', { id: subscription.id });
  const again = await call('webhookSubscriptions.delete', { id: subscription.id });
  expect([404, 410]).toContain(again.status);
});

test('the actions of Zapier write contacts, subscribe them and send', async () => {
  const contact = { email, first_name: 'Ann', custom_number_1: 7, custom_json_1: { a: 1 } };
  // The app takes what it has sent where an answer has no contact and no memberships.
  expect(await write('contacts.upsert', { contact })).toMatchObject({ action: 'create' });
  const subscribed = await write('lists.subscribe', { contact: { email }, list_ids: [list] });
  expect(subscribed).toMatchObject({ success: true });
  const send = () =>
    write('transactional.send', {
      notification: {
        ...{ id: notification, contact: { email }, channels: ['email'] },
        ...{ external_id: `order ${email}`, data: { total: '12' }, metadata: { order: '9912' } },
        email_options: { subject: 'Yours', cc: ['copy@example.com'], reply_to: 'r@example.com' },
      },
    });
  const first = await send();
  expect(first.message_id).toMatch(/^[\da-f-]{36}$/);
  expect((await send()).message_id).toBe(first.message_id);
});

test('the triggers of Zapier find samples', async () => {
  expect((await read('contacts.list', { limit: '10' })).contacts).toMatchObject([{ email }]);
  const { contacts } = await read('contacts.list', {
    ...{ list_id: list, contact_list_status: 'active', with_contact_lists: 'true', limit: '10' },
  });
  expect(contacts).toMatchObject([
    { email, contact_lists: [{ list_id: list, list_name: 'Readers', status: 'active' }] },
  ]);
  const segment = unique('s').replaceAll('-', '_');
  const filters = [{ field_name: 'email', field_type: 'string', operator: 'is_set' }];
  const tree = { kind: 'leaf', leaf: { source: 'contacts', contact: { filters } } };
  await write('segments.create', {
    ...{ id: segment, name: 'All', color: '#fff', timezone: 'UTC', tree },
  });
  const members = async () =>
    (await read('segments.contacts', { segment_id: segment, expand: 'contact', limit: '10' }))
      .contacts;
  await until('the segment is built', async () => (await members()).length > 0);
  expect(await members()).toMatchObject([{ contact: { email }, matched_at: expect.any(String) }]);
  expect((await read('segments.get', { id: segment })).segment).toMatchObject({ name: 'All' });
});

test('the node of n8n reads and writes contacts and lists', async () => {
  expect(await read('contacts.count')).toEqual({ total_contacts: 1 });
  await write('contacts.upsert', { contact: { email, external_id: 'ext-1' } });
  const query = { email, with_contact_lists: 'true' };
  expect((await read('contacts.getByEmail', query)).contact).toMatchObject({ email });
  const byId = await read('contacts.getByExternalID', {
    ...{ external_id: 'ext-1', with_contact_lists: 'true' },
  });
  expect(byId.contact).toMatchObject({ email });
  expect((await read('contacts.list', { country: 'BR', limit: '100' })).contacts).toEqual([]);
  const imported = { contacts: [{ email: `b.${email}` }], subscribe_to_lists: [list] };
  expect((await write('contacts.import', imported)).operations).toHaveLength(1);
  const status = { email, list_id: list, status: 'unsubscribed' };
  expect(await write('contactLists.updateStatus', status)).toMatchObject({ success: true });
  await write('contacts.delete', { email: `b.${email}` });
});

test('the node of n8n reads and writes events, templates and broadcasts', async () => {
  const events = [
    {
      ...{ event_name: 'purchase', external_id: 'o1', email, properties: { amount: 99.99 } },
      occurred_at: '2026-11-27T10:00:00Z',
    },
  ];
  expect(await write('customEvents.import', { events })).toMatchObject({ count: 1 });
  const filters = { category: 'transactional', channel: 'email' };
  expect((await read('templates.list', filters)).templates).toMatchObject([{ id: template }]);
  expect((await read('templates.get', { id: template, version: '1' })).template.version).toBe(1);
  const audience = { list, exclude_unsubscribed: true };
  const { broadcast } = await write('broadcasts.create', {
    ...{ name: 'Summer', audience, utm_parameters: { source: 'n' }, tracking_enabled: true },
    ...{ metadata: { tag: 'promo' }, test_settings: { enabled: false } },
  });
  const page = await read('broadcasts.list', { status: 'draft', limit: '100', offset: '0' });
  expect(page.broadcasts).toMatchObject([{ id: broadcast.id, name: 'Summer' }]);
  const got = await read('broadcasts.get', { id: broadcast.id, with_templates: 'true' });
  expect(got.broadcast).toMatchObject({ id: broadcast.id, status: 'draft' });
  await write('broadcasts.update', { id: broadcast.id, name: 'Later', audience });
  await write('broadcasts.delete', { id: broadcast.id });
});

test('the trigger of n8n registers itself, and reads what it has registered', async () => {
  const event_types = ['contact.created', 'list.complained', 'segment.left', 'email.unsubscribed'];
  const { subscription } = await write('webhookSubscriptions.create', {
    ...{ name: 'n8n - Notifuse', url: 'https://n8n.example.com/webhook/1/webhook', event_types },
  });
  expect(subscription.secret).toMatch(/\S/);
  const { subscription: found } = await read('webhookSubscriptions.get', { id: subscription.id });
  expect(found.event_types.toSorted()).toEqual(event_types.toSorted());
  await write('webhookSubscriptions.delete', { id: subscription.id });
});
