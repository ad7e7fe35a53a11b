import { beforeAll, expect, test } from '@jest/globals';
import {
  act,
  draftOf,
  givenBroadcast,
  givenTemplate,
  sendNow,
  unique,
  untilStatus,
} from '../stack/given.ts';
import { ownerToken, signed } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import { shapeOf } from './shape.ts';

/** The documented answers, key by key, of every operation. */

let token: string;
const stack = borrowedStack();
beforeAll(async () => {
  token = await ownerToken(stack.settings);
}, 60_000);

async function post(operation: string, body: object, as = token) {
  const answer = await stack.call(operation, body, { token: as });
  return { status: answer.status, shape: shapeOf(answer.body), body: answer.body };
}

async function get(operation: string, query: Record<string, string>) {
  const answer = await stack.call(operation, undefined, { query, token });
  return { status: answer.status, shape: shapeOf(answer.body), body: answer.body };
}

const key = () => ({ workspace_id: stack.workspaceId });
const times = { created_at: 'time', updated_at: 'time' };

test('user.rootSignin', async () => {
  // The limit is per address, so this test signs in only once.
  const { ROOT_EMAIL: email = '', SECRET_KEY = '' } = stack.settings;
  // A signature works once; no other test signs for a second in the future.
  const request = signed(email, SECRET_KEY, Math.floor(Date.now() / 1_000) + 30);
  const { status, shape } = await post('user.rootSignin', request, '');
  expect(status).toBe(200);
  expect(shape).toMatchObject({
    token: 'string',
    user: { id: 'string', email: 'string', name: 'string', ...times },
    expires_at: 'time',
  });
});

const workspace = {
  id: 'string',
  name: 'string',
  settings: expect.objectContaining({ timezone: 'string', languages: ['string'] }),
  integrations: [],
  ...times,
};

test('workspaces.create, get, list, update and createAPIKey', async () => {
  const id = unique('w');
  const settings = { timezone: 'UTC', default_language: 'en', languages: ['en'] };
  const created = await post('workspaces.create', { id, name: 'New', settings });
  expect([created.status, created.shape]).toEqual([201, workspace]);
  const found = await get('workspaces.get', { id });
  expect([found.status, found.shape]).toEqual([200, { workspace }]);
  const listed = await get('workspaces.list', {});
  expect([listed.status, listed.shape]).toEqual([
    200,
    [{ ...workspace, integrations: expect.anything() }],
  ]);
  const updated = await post('workspaces.update', { id, name: 'Newer', settings });
  expect([updated.status, updated.shape]).toEqual([200, workspace]);
  const given = { workspace_id: id, email_prefix: 'robot' };
  const apiKey = await post('workspaces.createAPIKey', given);
  expect([apiKey.status, apiKey.shape]).toEqual([
    200,
    { status: 'string', token: 'string', email: 'string', id: 'string', expires_at: 'time' },
  ]);
});

test('workspaces.createIntegration and updateIntegration never show a password', async () => {
  const smtp = { host: '127.0.0.1', port: 2525, username: 'u', password: 'hush', use_tls: false };
  const senders = [{ email: 'a@example.com', name: 'A', is_default: true }];
  const provider = { kind: 'smtp', smtp, senders, rate_limit_per_minute: 60 };
  const id = unique('w');
  const settings = { timezone: 'UTC', default_language: 'en', languages: ['en'] };
  await post('workspaces.create', { id, name: 'New', settings });
  const body = { workspace_id: id, name: 'Mine', type: 'email', provider };
  const created = await post('workspaces.createIntegration', body);
  expect([created.status, created.shape]).toEqual([
    201,
    { status: 'string', integration_id: 'string' },
  ]);
  const change = { ...body, integration_id: created.body.integration_id };
  const updated = await post('workspaces.updateIntegration', change);
  expect([updated.status, updated.shape]).toEqual([200, { status: 'string', message: 'string' }]);
  const { body: shown } = await get('workspaces.get', { id });
  expect(JSON.stringify(shown)).not.toContain('hush');
});

test('receivers.pause, listPaused and resume', async () => {
  const smtp = { host: '127.0.0.1', port: 2525, use_tls: false, direct: true };
  const senders = [{ email: 'a@example.com', name: 'A', is_default: true }];
  const provider = { kind: 'smtp', smtp, senders, rate_limit_per_minute: 60 };
  const id = unique('w');
  await post('workspaces.create', { id, name: 'New' });
  const integration = { workspace_id: id, name: 'Mine', type: 'email', provider };
  const { body } = await post('workspaces.createIntegration', integration);
  const place = { workspace_id: id, integration_id: body.integration_id };
  const pause = { receiver: 'string', until: 'time', paused_at: 'time' };
  const paused = await post('receivers.pause', {
    ...{ ...place, receiver: 'google', for_seconds: 3_600 },
  });
  expect([paused.status, paused.shape]).toEqual([200, { paused: pause }]);
  const listed = await get('receivers.listPaused', place);
  expect([listed.status, listed.shape]).toEqual([200, { paused: [pause] }]);
  const resumed = await post('receivers.resume', { ...place, receiver: 'google' });
  expect([resumed.status, resumed.shape]).toEqual([200, { success: 'boolean' }]);
  await until('both calls are in the audit log', async () => {
    const { entries } = (await get('workspaces.auditLog', { workspace_id: id })).body;
    const made = entries.map(
      (entry: Record<string, string>) => `${entry.action} ${entry.target_id}`,
    );
    return ['receivers.pause google', 'receivers.resume google'].every((each) =>
      made.includes(each),
    );
  });
});

const list = {
  id: 'string',
  name: 'string',
  is_double_optin: 'boolean',
  is_public: 'boolean',
  description: 'string',
  ...times,
};

test('lists.create, get and list', async () => {
  const id = unique('l');
  const created = await post('lists.create', { ...key(), id, name: 'New' });
  expect([created.status, created.shape]).toEqual([201, { list }]);
  const found = await get('lists.get', { ...key(), id });
  expect([found.status, found.shape]).toEqual([200, { list }]);
  const listed = await get('lists.list', key());
  expect([listed.status, listed.shape]).toEqual([200, { lists: [list] }]);
});

test('lists.create and update with a welcome', async () => {
  const id = unique('w');
  const channels = { email: { template_id: await givenTemplate(stack) } };
  const created = await post('transactional.create', {
    ...{ ...key(), notification: { id, name: 'Hello', channels } },
  });
  expect(created.status).toBe(201);
  const given = { ...key(), id, name: 'New', welcome: { notification_id: id } };
  const welcome = {
    notification_id: 'string',
    delay_seconds: 'number',
    include_imports: 'boolean',
  };
  for (const [path, status] of [
    ['lists.create', 201],
    ['lists.update', 200],
  ] as const) {
    const answer = await post(path, given);
    expect([answer.status, answer.shape]).toEqual([status, { list: { ...list, welcome } }]);
  }
  const refused = await post('transactional.delete', { ...key(), id });
  expect([refused.status, refused.body]).toMatchObject([400, { reason: 'NOTIFICATION_IN_USE' }]);
});

const numbered = (kind: string) => [1, 2, 3, 4, 5].map((at) => `custom_${kind}_${at}`);
const nullable = [
  ...['external_id', 'timezone', 'language', 'first_name', 'last_name', 'full_name', 'phone'],
  ...['address_line_1', 'address_line_2', 'country', 'postcode', 'state', 'job_title'],
  ...['string', 'number', 'datetime', 'json'].flatMap(numbered),
];

test('contacts.upsert, import, getByEmail, list and count', async () => {
  const email = `${unique('c')}@example.com`;
  const upserted = await post('contacts.upsert', { ...key(), contact: { email } });
  expect([upserted.status, upserted.body]).toEqual([200, { email, action: 'create' }]);
  const { body: made } = await post('lists.create', { ...key(), id: unique('l'), name: 'L' });
  const contacts = [{ email }, { email: 'nonsense' }];
  const subscribe = { contacts, subscribe_to_lists: [made.list.id] };
  const imported = await post('contacts.import', { ...key(), ...subscribe });
  expect([imported.status, imported.body]).toEqual([
    200,
    {
      operations: [
        { email, action: 'update', error: null },
        { email: 'nonsense', action: 'error', error: expect.any(String) },
      ],
      error: null,
    },
  ]);
  const found = await get('contacts.getByEmail', { ...key(), email });
  const contact = {
    email: 'string',
    ...Object.fromEntries(nullable.map((name) => [name, 'null'])),
    ...times,
    contact_lists: [
      {
        email: 'string',
        list_id: 'string',
        list_name: 'string',
        status: 'string',
        ...times,
        deleted_at: 'null',
      },
    ],
    contact_segments: [],
  };
  expect([found.status, found.shape]).toEqual([200, { contact }]);
  const query = { ...key(), email, with_contact_lists: 'true' };
  const listed = await get('contacts.list', query);
  expect([listed.status, listed.shape]).toEqual([200, { contacts: [contact] }]);
  const counted = await get('contacts.count', key());
  expect([counted.status, counted.shape]).toEqual([200, { total_contacts: 'number' }]);
});

const mjml =
  '<mjml><mj-body><mj-section><mj-column><mj-text>Hi</mj-text></mj-column></mj-section></mj-body></mjml>';

test('templates.create, get, list and compile', async () => {
  const id = unique('t');
  const email = { editor_mode: 'code', mjml_source: mjml, subject: 'Hi' };
  const given = { ...key(), id, name: 'New', channel: 'email', category: 'marketing', email };
  const created = await post('templates.create', given);
  const template = expect.objectContaining({
    id: 'string',
    name: 'string',
    version: 'number',
    channel: 'string',
    category: 'string',
    email: expect.objectContaining({ subject: 'string', compiled_preview: 'string' }),
    ...times,
  });
  expect([created.status, created.shape]).toEqual([200, { template }]);
  expect(created.body.template).toMatchObject({
    version: 1,
    channel: 'email',
    category: 'marketing',
  });
  const found = await get('templates.get', { ...key(), id });
  expect([found.status, found.shape]).toEqual([200, { template }]);
  const listed = await get('templates.list', key());
  expect([listed.status, listed.shape]).toEqual([200, { templates: [template] }]);
  const draft = { ...key(), message_id: 'm1', mjml_source: mjml, subject: 'Hi {{ a }}' };
  const compiled = await post('templates.compile', { ...draft, test_data: { a: 1 } });
  expect([compiled.status, compiled.body]).toMatchObject([200, { success: true, subject: 'Hi 1' }]);
});

const broadcast = {
  id: 'string',
  workspace_id: 'string',
  name: 'string',
  page_url: 'string',
  channel_type: 'string',
  status: 'string',
  audience: {
    list: 'string',
    further_lists: [],
    segments: [],
    exclude_unsubscribed: 'boolean',
    not_opened_of: 'string',
  },
  schedule: {
    is_scheduled: 'boolean',
    scheduled_date: 'string',
    scheduled_time: 'string',
    timezone: 'string',
    use_recipient_timezone: 'boolean',
  },
  test_settings: {
    enabled: 'boolean',
    sample_percentage: 'number',
    auto_send_winner: 'boolean',
    auto_send_winner_metric: 'string',
    test_duration_hours: 'number',
    variations: [
      {
        template_id: 'string',
        variation_name: 'string',
        metrics: {
          recipients: 'number',
          delivered: 'number',
          opens: 'number',
          clicks: 'number',
          bounced: 'number',
          complained: 'number',
          unsubscribed: 'number',
        },
      },
    ],
  },
  utm_parameters: {
    source: 'string',
    medium: 'string',
    campaign: 'string',
    term: 'string',
    content: 'string',
  },
  enqueued_count: 'number',
  test_phase_recipient_count: 'number',
  winner_phase_recipient_count: 'number',
  sent_count: 'number',
  failed_count: 'number',
  integration_id: 'string',
  tags: [],
  skipped_count: 'number',
  deferred_count: 'number',
  ...times,
};

test('broadcasts.create, update, get, list, schedule, pause, resume, cancel and delete', async () => {
  const { listId, templateId } = await givenBroadcast(stack, 1);
  const draft = draftOf(stack, { listId, templateId });
  const created = await post('broadcasts.create', draft);
  expect([created.status, created.shape]).toEqual([201, { broadcast }]);
  const { id } = created.body.broadcast;
  const updated = await post('broadcasts.update', { ...draft, id, name: 'Newer' });
  expect([updated.status, updated.shape]).toEqual([200, { broadcast }]);
  const found = await get('broadcasts.get', { ...key(), id });
  expect([found.status, found.shape]).toEqual([200, { broadcast }]);
  const whole = await get('broadcasts.get', { ...key(), id, with_templates: 'true' });
  expect(whole.body.broadcast.test_settings.variations).toMatchObject([
    { template: { id: templateId, version: 1, name: 'Hello', channel: 'email' } },
  ]);
  const listed = await get('broadcasts.list', { ...key(), limit: '1', status: 'draft' });
  expect([listed.status, listed.shape]).toEqual([
    200,
    { broadcasts: [broadcast], total_count: 'number' },
  ]);
  const time = { scheduled_date: '2099-01-01', scheduled_time: '12:00', timezone: 'UTC' };
  for (const [action, more] of [
    ['schedule', time],
    ['pause', {}],
    ['resume', {}],
    ['cancel', {}],
    ['delete', {}],
  ] as const) {
    const { status, body } = await act(stack, action, id, more);
    expect([action, status, body]).toEqual([action, 200, { success: true }]);
  }
  const gone = await get('broadcasts.get', { ...key(), id });
  expect([gone.status, gone.body.error]).toEqual([404, 'Broadcast not found']);
});

test('broadcasts.estimateAudience', async () => {
  const { id, listId } = await givenBroadcast(stack, 2);
  await sendNow(stack, id);
  await untilStatus(stack, id, 'sent');
  const estimate = (audience: object) =>
    post('broadcasts.estimateAudience', { ...key(), audience: { list: listId, ...audience } });
  expect(await estimate({})).toMatchObject({ status: 200, body: { count: 2 } });
  expect((await estimate({})).shape).toEqual({ count: 'number' });
  const narrowed = await estimate({ not_opened_of: id });
  expect(narrowed).toMatchObject({ status: 200, body: { count: 2 } });
  expect(narrowed.shape).toEqual({ count: 'number', note: 'string' });
});

test('messages.list and broadcastStats', async () => {
  const { id } = await givenBroadcast(stack, 2);
  await sendNow(stack, id);
  await untilStatus(stack, id, 'sent');
  const listed = await get('messages.list', { ...key(), broadcast_id: id, limit: '1' });
  expect([listed.status, listed.shape]).toEqual([
    200,
    {
      messages: [
        expect.objectContaining({
          id: 'string',
          contact_email: 'string',
          broadcast_id: 'string',
          template_id: 'string',
          template_version: 'number',
          channel: 'string',
          sent_at: 'time',
          ...times,
        }),
      ],
      next_cursor: 'string',
      has_more: 'boolean',
    },
  ]);
  const [message] = (await get('messages.list', { ...key(), broadcast_id: id })).body.messages;
  const read = await get('messages.get', { ...key(), id: message.id });
  expect([read.status, read.body]).toEqual([200, { message }]);
  const stats = await get('messages.broadcastStats', { ...key(), broadcast_id: id });
  const words = ['sent', 'delivered', 'bounced', 'complained', 'failed', 'opened', 'clicked'];
  const more = ['unsubscribed', 'skipped', 'deferred', 'unknown', 'soft_bounced'];
  expect([stats.status, stats.shape]).toEqual([
    200,
    {
      broadcast_id: 'string',
      stats: Object.fromEntries([...words, ...more].map((word) => [`total_${word}`, 'number'])),
    },
  ]);
});

test('messages.tagStats', async () => {
  const tag = unique('tag');
  const content = { subject: 'Hi', text: 'Hi' };
  const notification = { contact: { email: 'ann@example.com' }, content, tags: [tag] };
  expect((await post('transactional.send', { ...key(), notification })).status).toBe(200);
  const day = new Date().toISOString().slice(0, 10);
  const from = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const stats = await get('messages.tagStats', { ...key(), tag, from, to: day });
  const words = ['messages', 'sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained'];
  const counts = Object.fromEntries(words.map((word) => [word, 'number']));
  expect([stats.status, stats.shape]).toEqual([
    200,
    { stats: [{ tag: 'string', day: 'string', ...counts }] },
  ]);
});

test('lists.export and segments.export', async () => {
  const [id, email] = [unique('l'), `${unique('c')}@example.com`];
  await post('lists.create', { ...key(), id, name: 'New' });
  await post('contacts.import', { ...key(), contacts: [{ email }], subscribe_to_lists: [id] });
  const query = new URLSearchParams({ ...key(), list_id: id });
  const answer = await fetch(`${stack.settings.BASE_URL}/api/lists.export?${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.status).toBe(200);
  const line = JSON.parse(await answer.text());
  expect(shapeOf(line)).toMatchObject({
    contact: { email: 'string', ...times },
    status: 'string',
    joined_at: 'time',
    status_changed_at: 'time',
  });
  expect(line.contact.email).toBe(email);
  const segment = { ...key(), segment_id: unique('s') };
  expect((await get('segments.export', segment)).status).toBe(404);
});

test('messages.export', async () => {
  const { id } = await givenBroadcast(stack, 3);
  await sendNow(stack, id);
  await untilStatus(stack, id, 'sent');
  const query = new URLSearchParams({ ...key(), broadcast_id: id, limit: '2' });
  const answer = await fetch(`${stack.settings.BASE_URL}/api/messages.export?${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'application/x-ndjson',
  ]);
  const lines = (await answer.text()).trimEnd().split('\n');
  const listed = await get('messages.list', { ...key(), broadcast_id: id });
  expect(lines.map((line) => JSON.parse(line))).toEqual(listed.body.messages);
  expect(lines.length).toBe(3);
});

test('a challenge has the names of ALTCHA, and its form the field altcha', async () => {
  const url = `${stack.settings.BASE_URL}/subscribe/challenge?workspace_id=${stack.workspaceId}`;
  const answer = await fetch(url, { headers: { origin: 'https://site.example' } });
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect(await answer.json()).toEqual({
    parameters: {
      algorithm: 'PBKDF2/SHA-256',
      cost: 200,
      keyLength: 32,
      keyPrefix: expect.stringMatching(/^[0-9a-f]{32}$/),
      keySignature: expect.stringMatching(/^[0-9a-f]{64}$/),
      nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
      salt: expect.stringMatching(/^[0-9a-f]{32}$/),
      expiresAt: expect.any(Number),
    },
    signature: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});
