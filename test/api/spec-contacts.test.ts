import { expect, test } from '@jest/globals';
import { givenTemplate, good, unique } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';

/** The specification of contacts, lists and memberships, checked literally and over HTTP. */

const stack = borrowedStack();

const post = (operation: string, body: object) =>
  stack.call(operation, { workspace_id: stack.workspaceId, ...body });
const get = (operation: string, query: Record<string, string>) =>
  stack.call(operation, undefined, { query: { workspace_id: stack.workspaceId, ...query } });
const somebody = (): string => `${unique('spec')}@example.com`;
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);

async function givenList(fields: object = {}): Promise<string> {
  const id = unique('list');
  good(await post('lists.create', { id, name: 'Spec', ...fields }));
  return id;
}

async function subscribe(body: object) {
  const answer = await fetch(`${stack.settings.BASE_URL}/subscribe`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const fields = {
  external_id: 'customer-1',
  timezone: 'Europe/Paris',
  language: 'fr',
  first_name: 'Ada',
  last_name: 'King',
  full_name: 'Ada King',
  phone: '+33 1 23',
  address_line_1: '1 rue',
  address_line_2: 'bis',
  country: 'FR',
  postcode: '75001',
  state: 'IDF',
  job_title: 'Analyst',
  ...Object.fromEntries(
    [1, 2, 3, 4, 5].flatMap((at) => [
      [`custom_string_${at}`, `text ${at}`],
      [`custom_number_${at}`, at + 0.5],
      [`custom_datetime_${at}`, `2024-02-29T12:00:0${at}Z`],
      [`custom_json_${at}`, { at: [at, null, { deep: true }] }],
    ]),
  ),
};

test('spec: a contact has every field of the table, in and out, and absent ones are null', async () => {
  const [full, bare] = [somebody(), somebody()];
  const external_id = unique('x');
  const contacts = [{ ...fields, email: full, external_id }, { email: bare }];
  expect((await post('contacts.import', { contacts })).body).toEqual({
    operations: contacts.map(({ email }) => ({ email, action: 'create', error: null })),
    error: null,
  });
  const added = { created_at: time, updated_at: time, contact_lists: [], contact_segments: [] };
  const found = await get('contacts.getByExternalID', { external_id });
  expect(found).toMatchObject({ status: 200 });
  expect(found.body).toEqual({ contact: { ...fields, email: full, external_id, ...added } });
  const nulls = Object.fromEntries(Object.keys(fields).map((name) => [name, null]));
  expect((await get('contacts.getByEmail', { email: bare })).body).toEqual({
    contact: { ...nulls, email: bare, ...added },
  });
});

test('spec: contacts.import creates or updates in one batch, and subscribes all to any list', async () => {
  const [old, fresh] = [somebody(), somebody()];
  const [first, second] = [await givenList(), await givenList({ is_public: true })];
  good(await post('contacts.upsert', { contact: { email: old } }));
  const contacts = [{ email: old }, { email: fresh }];
  const subscribe_to_lists = [first, second];
  const { status, body } = await post('contacts.import', { contacts, subscribe_to_lists });
  expect(status).toBe(200);
  expect(body.operations.map(({ action }: { action: string }) => action)).toEqual([
    'update',
    'create',
  ]);
  for (const email of [old, fresh]) {
    const { contact } = (await get('contacts.getByEmail', { email })).body;
    expect(contact.contact_lists.map(({ status }: { status: string }) => status)).toEqual([
      'active',
      'active',
    ]);
  }
  const none = await post('contacts.import', { contacts: [] });
  expect([none.status, typeof none.body.error]).toEqual([400, 'string']);
});

test('spec: an external_id is shared, and getByExternalID gives one of those with lists and segments', async () => {
  const listId = await givenList();
  const external_id = unique('shared');
  const emails = [somebody(), somebody()];
  const contacts = emails.map((email) => ({ email, external_id }));
  good(await post('contacts.import', { contacts, subscribe_to_lists: [listId] }));
  const { contact } = (await get('contacts.getByExternalID', { external_id })).body;
  expect(emails).toContain(contact.email);
  expect(contact.contact_segments).toEqual([]);
  expect(contact.contact_lists).toEqual([
    {
      email: contact.email,
      list_id: listId,
      list_name: 'Spec',
      status: 'active',
      created_at: time,
      updated_at: time,
      deleted_at: null,
    },
  ]);
  const nobody = await get('contacts.getByExternalID', { external_id: unique('nobody') });
  expect(nobody).toMatchObject({ status: 404, body: { error: 'Contact not found' } });
});

test('spec: contactLists.updateStatus sets any of the five statuses and never creates a membership', async () => {
  const [email, listId] = [somebody(), await givenList()];
  const change = (status: string, list_id = listId) =>
    post('contactLists.updateStatus', { email, list_id, status });
  good(await post('contacts.import', { contacts: [{ email }], subscribe_to_lists: [listId] }));
  for (const status of ['pending', 'unsubscribed', 'bounced', 'complained', 'active']) {
    const answer = await change(status);
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, message: 'status updated successfully', found: true },
    ]);
    const { contact } = (await get('contacts.getByEmail', { email })).body;
    expect(contact.contact_lists).toMatchObject([{ list_id: listId, status }]);
  }
  const other = await givenList();
  expect((await change('active', other)).body).toEqual({
    success: true,
    message: 'contact not in list',
    found: false,
  });
  const { contact } = (await get('contacts.getByEmail', { email })).body;
  expect(contact.contact_lists).toHaveLength(1);
  expect((await change('asleep')).status).toBe(400);
});

test('spec: lists.subscribe makes active at once, on public and private lists and past double opt-in', async () => {
  const id = await givenTemplate(stack);
  const optIn = { is_double_optin: true, double_optin_template: { id, version: 1 } };
  const list_ids = [await givenList({ is_public: true, ...optIn }), await givenList(optIn)];
  const contact = { email: somebody(), email_hmac: 'anything' };
  const answer = await post('lists.subscribe', { contact, list_ids });
  expect([answer.status, answer.body]).toEqual([200, { success: true }]);
  const found = (await get('contacts.getByEmail', { email: contact.email })).body.contact;
  expect(found).not.toHaveProperty('email_hmac');
  expect(found.contact_lists.map(({ status }: { status: string }) => status)).toEqual([
    'active',
    'active',
  ]);
  const none = await post('lists.subscribe', { contact, list_ids: [] });
  expect(none).toMatchObject({ status: 400, body: { error: 'list_ids is required' } });
});

test('spec: POST /subscribe needs no token and answers {success: true}, or a 400 with its text', async () => {
  const [open, closed] = [await givenList({ is_public: true }), await givenList()];
  const contact = { email: somebody() };
  const request = { workspace_id: stack.workspaceId, contact, list_ids: [open] };
  expect(await subscribe(request)).toEqual({ status: 200, body: { success: true } });
  const refused = async (change: object) => {
    const { status, body } = await subscribe({ ...request, ...change });
    return [status, body.error];
  };
  expect(await refused({ workspace_id: undefined })).toEqual([400, 'workspace_id is required']);
  expect(await refused({ contact: { email: 'x' } })).toEqual([
    400,
    'invalid contact: invalid email format',
  ]);
  expect(await refused({ list_ids: [] })).toEqual([400, 'list_ids is required']);
  expect(await refused({ list_ids: [closed] })).toEqual([400, 'list is not public']);
});
