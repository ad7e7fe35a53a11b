import { afterEach, expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { publicEvents } from '#lib/events/contracts.ts';
import {
  draftOf,
  givenList,
  givenTemplate,
  good,
  importContacts,
  sendNow,
  unique,
  untilStatus,
} from '../stack/given.ts';
import { emailOf, givenWebhook } from '../stack/given-webhook.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import { deleteWebhook } from '../stack/webhooks.ts';
import { shapeOf } from './shape.ts';

const stack = borrowedStack();
afterEach(async () => {
  const query = { workspace_id: stack.workspaceId };
  const { subscriptions } = good(
    await stack.call('webhookSubscriptions.list', undefined, { query }),
  );
  for (const each of subscriptions) await deleteWebhook(stack, each);
});

const key = (more: object) => ({ workspace_id: stack.workspaceId, ...more });
const upsert = async (contact: object) =>
  good(await stack.call('contacts.upsert', key({ contact })));
const newEmail = () => `${unique('hook')}@example.com`;

test('changes of contacts and lists arrive signed, and created or updated is the truth', async () => {
  const types = ['contact.created', 'contact.updated', 'contact.deleted', 'list.subscribed'];
  const { callbacks, untilCalled } = await givenWebhook(stack, [...types, 'list.unsubscribed']);
  const listId = await givenList(stack);
  const email = newEmail();
  await upsert({ email, first_name: 'Zoë' });
  await upsert({ email, first_name: 'Zoë' });
  await upsert({ email, first_name: 'Zoë 二' });
  good(await stack.call('lists.subscribe', key({ contact: { email }, list_ids: [listId] })));
  good(await stack.call('contacts.delete', key({ email })));
  await untilCalled(types, email);
  const own = callbacks().filter(({ data }) => emailOf(data) === email);
  expect(own.map(({ type }) => type).sort()).toEqual(types.toSorted());
  const dataOf = (type: string) => own.find((each) => each.type === type)?.data;
  expect(dataOf('contact.created').contact).toMatchObject({ email, first_name: 'Zoë' });
  expect(dataOf('contact.updated').contact).toMatchObject({ email, first_name: 'Zoë 二' });
  expect(dataOf('list.subscribed')).toEqual({
    ...{ email, list_id: listId, list_name: 'Readers', status: 'active', previous_status: null },
    event_timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.(\d{3}){1,2})?Z$/),
  });
  expect(shapeOf(own[0])).toMatchObject({
    id: 'string',
    workspace_id: 'string',
    timestamp: 'time',
  });
});

test('email events have the ids of their list, broadcast and message', async () => {
  const types = ['email.sent', 'email.opened', 'email.clicked'];
  const { callbacks, untilCalled } = await givenWebhook(stack, types);
  const listId = await givenList(stack);
  const [email = ''] = await importContacts(stack, listId, 1);
  const templateId = await givenTemplate(stack);
  const draft = draftOf(stack, { listId, templateId });
  const { broadcast } = good(await stack.call('broadcasts.create', draft));
  await sendNow(stack, broadcast.id);
  await untilStatus(stack, broadcast.id, 'sent');
  const [raw = ''] = await stack.sink.bodies(email);
  const { html = '' } = await PostalMime.parse(Buffer.from(raw, 'latin1'));
  await visit(html, /src="([^"]+\/t\/[^"]+)"/);
  await visit(html, /href="([^"]+\/r\/[^"]+)"/);
  await untilCalled(types, email);
  const own = callbacks().filter(({ data }) => data.email === email);
  expect(own.map(({ type }) => type).sort()).toEqual(types.toSorted());
  const query = { workspace_id: stack.workspaceId, contact_email: email };
  const { messages } = good(await stack.call('messages.list', undefined, { query }));
  for (const { data } of own) {
    expect(data).toMatchObject({
      email,
      message_id: messages[0].id,
      template_id: templateId,
      broadcast_id: broadcast.id,
      list_id: listId,
      channel: 'email',
    });
    expect(Date.parse(data.event_timestamp)).toBeLessThanOrEqual(Date.now());
  }
}, 90_000);

const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';

async function visit(html: string, address: RegExp): Promise<void> {
  const [, url = ''] = address.exec(html) ?? [];
  const headers = { 'user-agent': browser };
  await (await fetch(url, { headers, redirect: 'manual' })).arrayBuffer();
}

test('the first event after the answer of create or toggle is delivered, and none while it is off', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { subscription, callbacks, untilCalled } = await givenWebhook(stack, ['contact.created']);
    const [first, whileOff, afterwards] = [newEmail(), newEmail(), newEmail()];
    await upsert({ email: first });
    await untilCalled(['contact.created'], first);
    const toggle = async (enabled: boolean) =>
      good(await stack.call('webhookSubscriptions.toggle', key({ id: subscription.id, enabled })));
    await toggle(false);
    await upsert({ email: whileOff });
    await untilMatched(whileOff);
    await toggle(true);
    await upsert({ email: afterwards });
    await untilCalled(['contact.created'], afterwards);
    expect(callbacks().map(({ data }) => emailOf(data))).toEqual([first, afterwards]);
    await deleteWebhook(stack, subscription);
  }
}, 60_000);

/**
 * Waits until webhooks has taken the event of a contact, by another subscription that gets one
 * after it.
 */
async function untilMatched(email: string): Promise<void> {
  const other = await givenWebhook(stack, ['contact.updated']);
  await upsert({ email, first_name: 'Changed' });
  await other.untilCalled(['contact.updated'], email);
  await deleteWebhook(stack, other.subscription);
}

test('the JSON of every operation', async () => {
  const { subscription } = await givenWebhook(stack, ['contact.created'], () => 201);
  const id = subscription.id;
  const post = (operation: string, body: object) =>
    stack.call(`webhookSubscriptions.${operation}`, key(body));
  const get = async (operation: string, query: Record<string, string> = {}) => {
    const options = { query: { workspace_id: stack.workspaceId, ...query } };
    return good(await stack.call(`webhookSubscriptions.${operation}`, undefined, options));
  };
  const shape = {
    ...{ id: 'string', name: 'string', url: 'string', secret: 'string' },
    settings: { event_types: ['string'], list_ids: [], segment_ids: [] },
    ...{ event_types: ['string'], list_ids: [], segment_ids: [] },
    ...{ enabled: 'boolean', source: 'string', last_delivery_at: 'null' },
    backlog_dropped_at: 'null',
    ...{ created_at: 'time', updated_at: 'time' },
  };
  expect(shapeOf(subscription)).toEqual(shape);
  expect(shapeOf(await get('list'))).toEqual({ subscriptions: [shape] });
  expect(await get('get', { id })).toEqual({ subscription });
  expect((await get('eventTypes')).event_types).toEqual(publicEvents.map(({ type }) => type));
  const content = { id, name: 'New', url: subscription.url, event_types: ['contact.created'] };
  const filters = { custom_event_filters: { goal_types: ['purchase'], event_names: [] } };
  const updated = good(await post('update', { ...content, ...filters }));
  expect(updated.subscription).toMatchObject({ name: 'New', ...filters, settings: filters });
  const secret = good(await post('regenerateSecret', { id })).subscription.secret;
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(secret).not.toBe(subscription.secret);
  expect(good(await post('test', { id, event_type: 'contact.created' }))).toEqual({
    ...{ success: true, status_code: 201, response_body: 'thanks', error: null },
  });
  await upsert({ email: newEmail() });
  const list = () => get('deliveries', { subscription_id: id });
  await until('it is delivered', async () => (await list()).deliveries[0]?.status === 'delivered');
  const { deliveries, ...page } = await list();
  expect(page).toEqual({ total: 1, limit: 20, offset: 0 });
  expect(shapeOf({ ...deliveries[0], payload: {} })).toEqual({
    ...{ id: 'string', subscription_id: 'string', event_type: 'string', payload: {} },
    ...{ status: 'string', attempts: 'number', max_attempts: 'number', next_attempt_at: 'null' },
    ...{ last_attempt_at: 'time', delivered_at: 'time', last_response_status: 'number' },
    ...{ last_response_body: 'string', last_error: 'null', created_at: 'time' },
    occurred_at: 'time',
  });
  expect((await post('redeliver', { id, since: '2026-01-01T00:00:00Z' })).body).toEqual({
    redelivered: 0,
  });
  expect((await post('toggle', { id, enabled: false })).body.subscription.enabled).toBe(false);
  expect((await post('delete', { id })).body).toEqual({ success: true });
  expect(await post('delete', { id })).toMatchObject({
    status: 404,
    body: { error: 'Webhook subscription not found' },
  });
});

test('the JSON of every operation of listeners', async () => {
  const post = (operation: string, body: object = {}) =>
    stack.call(`webhookListeners.${operation}`, key(body));
  const created = await post('create', { event_types: ['contact.created'] });
  expect(created.status).toBe(201);
  const { listener } = created.body;
  expect(shapeOf(listener)).toEqual({
    ...{ id: 'string', event_types: ['string'], created_at: 'time', expires_at: 'time' },
  });
  const { id } = listener;
  expect(good(await post('trigger', { event_type: 'contact.created' }))).toEqual({ listeners: 1 });
  const taken = good(await post('take', { id }));
  expect(shapeOf({ ...taken, events: [{ ...taken.events[0], data: {} }] })).toEqual({
    events: [{ id: 'string', type: 'string', timestamp: 'time', data: {} }],
    ...{ dropped: 'number', expires_at: 'time' },
  });
  const email = newEmail();
  await upsert({ email });
  const taken_ids = [taken.events[0].id];
  await until('the event waits', async () => {
    const { events } = good(await post('take', { id, taken_ids }));
    return events.some((event: { data: unknown }) => emailOf(event.data) === email);
  });
  expect(good(await post('end', { id }))).toEqual({ success: true });
  expect(await post('take', { id })).toMatchObject({
    status: 404,
    body: { error: 'Webhook listener not found' },
  });
});
