import { expect, test } from '@jest/globals';
import { givenTemplate, good, unique } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';

/** Custom events and timelines against the documented answers. */

const stack = borrowedStack();

const post = (operation: string, body: object) =>
  stack.call(operation, { workspace_id: stack.workspaceId, ...body });
const get = (operation: string, query: Record<string, string>) =>
  stack.call(operation, undefined, { query: { workspace_id: stack.workspaceId, ...query } });
const somebody = (): string => `${unique('event')}@example.com`;
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);

test('customEvents.upsert answers the event as documented, and get and list find it', async () => {
  const email = somebody();
  const key = { event_name: 'orders/fulfilled', external_id: unique('order') };
  const given = {
    ...key,
    properties: { total: 12.5, items: [{ sku: 'a' }], gift: null },
    occurred_at: '2024-02-29T12:00:00.5Z',
    goal_type: 'purchase',
    goal_value: 12.499,
  };
  const upserted = await post('customEvents.upsert', { ...given, email: email.toUpperCase() });
  const event = {
    ...given,
    email,
    occurred_at: '2024-02-29T12:00:00.500Z',
    source: 'api',
    goal_value: 12.5,
    created_at: time,
    updated_at: time,
  };
  expect(upserted).toMatchObject({ status: 200, body: { event } });
  const { event: stored } = upserted.body;
  expect(await get('customEvents.get', key)).toMatchObject({
    status: 200,
    body: { event: stored },
  });
  const listed = await get('customEvents.list', { email });
  expect(listed).toMatchObject({ status: 200, body: { events: [stored], count: 1 } });
  expect(await get('customEvents.list', { email: somebody() })).toMatchObject({
    status: 200,
    body: { events: [], count: 0 },
  });
  const missing = await get('customEvents.get', { ...key, external_id: 'none' });
  expect(missing).toMatchObject({ status: 404, body: { error: 'Custom event not found' } });
});

test('customEvents.import answers 201 with a result for each row, also for unreadable ones', async () => {
  const email = somebody();
  const row = { email, event_name: 'visit', external_id: unique('v') };
  const rows = [row, { ...row, external_id: 'bad', goal_value: 'much' }, { ...row, email: '' }];
  const { status, body } = await post('customEvents.import', { events: rows });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    event_ids: [row.external_id],
    count: 1,
    results: [
      { external_id: row.external_id, action: 'create' },
      { action: 'error', error: expect.stringContaining('goal_value') },
      { external_id: row.external_id, action: 'error', error: 'email is required' },
    ],
  });
});

test('timeline.list has entries of a contact, its list, its event and its mail, and is empty once the contact is deleted', async () => {
  const email = somebody();
  const list_id = unique('list');
  good(await post('lists.create', { id: list_id, name: 'Readers' }));
  good(await post('contacts.import', { contacts: [{ email }], subscribe_to_lists: [list_id] }));
  good(await post('contacts.upsert', { contact: { email, first_name: 'Ann' } }));
  good(await post('customEvents.upsert', { email, event_name: 'visit', external_id: unique('v') }));
  const template_id = await givenTemplate(stack);
  const notification = {
    id: unique('n').slice(0, 32),
    name: 'N',
    channels: { email: { template_id } },
  };
  good(await post('transactional.create', { notification }));
  const mail = { id: notification.id, contact: { email }, channels: ['email'] };
  const { message_id } = good(await post('transactional.send', { notification: mail }));
  const kindsNow = async () =>
    (await get('timeline.list', { email })).body.timeline.map(({ kind }: { kind: string }) => kind);
  await until('the mail is sent', async () =>
    (await kindsNow()).includes('insert_message_history'),
  );
  const { status, body } = await get('timeline.list', { email });
  expect(status).toBe(200);
  const base = { id: expect.any(String), email, created_at: time };
  expect(body.timeline).toMatchObject([
    {
      ...base,
      kind: 'insert_message_history',
      operation: 'insert',
      entity_type: 'message_history',
      entity_id: message_id,
      entity_data: { id: message_id, template_id, channel: 'email' },
    },
    { ...base, kind: 'custom_event.visit', operation: 'insert', entity_type: 'custom_event' },
    {
      ...base,
      kind: 'contact.updated',
      operation: 'update',
      entity_type: 'contact',
      changes: { first_name: { old: null, new: 'Ann' } },
    },
    {
      ...base,
      kind: 'list.subscribed',
      entity_type: 'contact_list',
      entity_id: list_id,
      entity_data: { id: list_id, name: 'Readers', status: 'active' },
    },
    { ...base, kind: 'contact.created', operation: 'insert', entity_type: 'contact' },
  ]);
  const paged = await get('timeline.list', { email, kinds: 'contact.*' });
  expect(paged.body.timeline).toHaveLength(2);
  const first = await get('timeline.list', { email, limit: '1' });
  expect(first.body.next_cursor).toEqual(expect.any(String));
  good(await post('contacts.delete', { email }));
  expect((await get('timeline.list', { email })).body.timeline).toEqual([]);
  expect((await get('customEvents.list', { email })).body.events).toEqual([]);
});
