import { resolve } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { readOperations, writeOperations } from '../../clients/mcp/tools.ts';
import { programVariables } from '../setup/program.ts';
import { givenList, givenTemplate, good, importContacts, untilStatus } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { passTime } from '../stack/time.ts';

/** A client of the official SDK, with `postrider mcp` and `/mcp` of a gateway as its servers. */

const program = resolve(import.meta.dirname, '../../deploy/postrider/main.ts');

const stack = borrowedStack();
let end = async () => {};
afterEach(() => end());

type Access = { allowWrites: boolean };

const transports = {
  'postrider mcp': ({ allowWrites }: Access) => {
    const { BASE_URL = '', TOKEN = '', WORKSPACE_ID = '' } = stack.settings;
    const env = { ...programVariables(), BASE_URL, TOKEN, WORKSPACE_ID };
    const args = [program, 'mcp', ...(allowWrites ? ['--allow-writes'] : [])];
    return new StdioClientTransport({ command: process.execPath, args, env });
  },
  '/mcp': ({ allowWrites }: Access) => {
    const requestInit = { headers: { authorization: `Bearer ${stack.settings.TOKEN}` } };
    return new StreamableHTTPClientTransport(addressOf({ allowWrites }), { requestInit });
  },
};

function addressOf({ allowWrites }: Access): URL {
  const { BASE_URL = '', WORKSPACE_ID = '' } = stack.settings;
  const query = `workspace_id=${WORKSPACE_ID}${allowWrites ? '&allow_writes=true' : ''}`;
  return new URL(`/mcp?${query}`, BASE_URL);
}

type Way = keyof typeof transports;

async function connected(way: Way, access: Access = { allowWrites: false }) {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transports[way](access));
  end = () => client.close();
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const [{ text = '' } = {}] = content as { text?: string }[];
    return { isError: isError === true, text, json: () => JSON.parse(text) };
  };
  return { client, call };
}

const nameOf = (operation: string) => operation.replace('.', '_');

describe.each(Object.keys(transports) as Way[])('%s', (way) => {
  test('a client that may only read has no tool that changes anything', async () => {
    const { client, call } = await connected(way);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(readOperations.map(nameOf));
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    for (const operation of writeOperations) {
      const answer = await call(nameOf(operation));
      expect(answer).toMatchObject({
        isError: true,
        text: `there is no tool ${nameOf(operation)}`,
      });
    }
  });

  test('a client drafts, sends and reads a whole A/B test', async () => {
    const { call } = await connected(way, { allowWrites: true });
    const list = await givenList(stack);
    await importContacts(stack, list, 40);
    const templates = [await givenTemplate(stack), await givenTemplate(stack)];
    const made = await call('broadcasts_create', {
      name: 'Two subjects',
      audience: { list },
      test_settings: {
        enabled: true,
        sample_percentage: 50,
        test_duration_hours: 1,
        auto_send_winner: true,
        auto_send_winner_metric: 'click_rate',
        variations: templates.map((template_id) => ({ template_id })),
      },
    });
    const { id } = made.json().broadcast;
    const send = { id, send_now: true };
    const asked = await call('broadcasts_schedule', send);
    expect(asked).toMatchObject({
      isError: true,
      text: expect.stringContaining('has 40 people now'),
    });
    const wrong = await call('broadcasts_schedule', { ...send, expected_recipients: 4 });
    expect(wrong.isError).toBe(true);
    expect((await call('broadcasts_get', { id })).json().broadcast.status).toBe('draft');
    const sent = await call('broadcasts_schedule', { ...send, expected_recipients: 40 });
    expect(sent.isError).toBe(false);
    await untilStatus(stack, id, 'test_completed');
    await passTime(stack, id);
    await untilStatus(stack, id, 'sent');
    const results = (await call('broadcasts_getTestResults', { id })).json();
    expect(results).toMatchObject({ status: 'sent' });
    expect(results.variation_results).toHaveProperty(templates[0] ?? '');
  }, 120_000);

  test('a client cannot put another audience in the place of the one that was agreed to', async () => {
    const { call } = await connected(way, { allowWrites: true });
    const [few, many] = [await givenList(stack), await givenList(stack)];
    await importContacts(stack, few, 1);
    await importContacts(stack, many, 50);
    const template_id = await givenTemplate(stack);
    const draft = {
      name: 'To one',
      audience: { list: few },
      test_settings: { variations: [{ template_id }] },
    };
    const { id } = (await call('broadcasts_create', draft)).json().broadcast;
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const scheduled = await call('broadcasts_schedule', {
      ...{ id, scheduled_date: tomorrow, scheduled_time: '10:00', timezone: 'UTC' },
      expected_recipients: 1,
    });
    expect(scheduled).toMatchObject({ isError: false });
    const changed = await call('broadcasts_update', { ...draft, id, audience: { list: many } });
    expect(changed).toMatchObject({ isError: true, text: expect.stringContaining('draft') });
    expect((await call('broadcasts_get', { id })).json().broadcast.audience.list).toBe(few);
  });

  test('a tool takes no arguments that it does not list, such as another workspace', async () => {
    const { call } = await connected(way);
    expect(await call('lists_list', { workspace_id: 'other' })).toMatchObject({
      isError: true,
      text: 'lists_list takes no workspace_id',
    });
  });

  test('null for an optional argument means that it is not given', async () => {
    const { client, call } = await connected(way, { allowWrites: true });
    const list = await givenList(stack);
    await importContacts(stack, list, 2);
    const template_id = await givenTemplate(stack);
    const given: Record<string, unknown> = {
      ...{ name: 'To two', audience: { list } },
      test_settings: { variations: [{ template_id }] },
    };
    const { tools } = await client.listTools();
    const withNulls = (name: string, args: Record<string, unknown> = {}) => {
      const { properties = {} } = tools.find((tool) => tool.name === name)?.inputSchema ?? {};
      const nulls = Object.fromEntries(Object.keys(properties).map((field) => [field, null]));
      return call(name, { ...nulls, ...args });
    };
    const made = await withNulls('broadcasts_create', given);
    expect(made).toMatchObject({ isError: false });
    const { id } = made.json().broadcast;
    const asked = await withNulls('broadcasts_schedule', { id, send_now: true });
    expect(asked.text).toBe('nothing was sent: the audience has 2 people now');
    const reads: Record<string, Record<string, unknown>> = {
      contacts_list: { list_id: list },
      messages_list: { broadcast_id: id },
      timeline_list: { email: 'nobody@example.com' },
    };
    for (const [name, args] of Object.entries(reads)) {
      expect((await withNulls(name, args)).text).toBe((await call(name, args)).text);
    }
    expect(await withNulls('templates_get')).toMatchObject({ text: expect.stringMatching(/id/) });
  });

  test('the text null is a value like any other', async () => {
    const { call } = await connected(way);
    await importContacts(stack, await givenList(stack), 1);
    const found = await call('contacts_list', { first_name: 'null', segments: ['null'] });
    expect(found.json()).toMatchObject({ contacts: [] });
  });

  test('an error of the API is an answer that names the field', async () => {
    const { call } = await connected(way);
    const answer = await call('contacts_list', { limit: 5_000 });
    expect(answer).toMatchObject({ isError: true, text: expect.stringMatching(/limit/) });
  });

  test('every other tool that reads can be called', async () => {
    const { call } = await connected(way);
    const list = await givenList(stack);
    const [email = ''] = await importContacts(stack, list, 1);
    const template = await givenTemplate(stack);
    const draft = {
      workspace_id: stack.workspaceId,
      name: 'A',
      audience: { list },
      test_settings: { variations: [{ template_id: template }] },
    };
    const { broadcast } = good(await stack.call('broadcasts.create', draft));
    const tree = {
      kind: 'leaf',
      leaf: { source: 'contact_lists', contact_list: { operator: 'in', list_id: list } },
    };
    const given: Record<string, Record<string, unknown>> = {
      'broadcasts.get': { id: broadcast.id },
      'broadcasts.estimateAudience': { audience: { list } },
      'contacts.getByEmail': { email },
      'lists.stats': { list_id: list },
      'messages.broadcastStats': { broadcast_id: broadcast.id },
      'messages.tagStats': { from: '2026-01-01', to: '2026-01-02' },
      'messages.why': { email },
      'segments.preview': { tree },
      'templates.compile': { message_id: 'm', mjml_source: '<mjml><mj-body></mj-body></mjml>' },
      'templates.get': { id: template },
      'timeline.list': { email },
    };
    const failed: string[] = [];
    const others = readOperations.filter((operation) => operation !== 'broadcasts.getTestResults');
    for (const operation of others) {
      const { isError, text } = await call(nameOf(operation), given[operation] ?? {});
      if (isError) failed.push(`${operation}: ${text}`);
    }
    expect(failed).toEqual([]);
  });
});

/** A message to `/mcp`, by the rules of the protocol but for what is given. */
function post(given: { headers?: Record<string, string>; body?: unknown; url?: URL } = {}) {
  const { headers, body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }, url } = given;
  return fetch(url ?? addressOf({ allowWrites: false }), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${stack.settings.TOKEN}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

test('/mcp answers each message by itself, and keeps no session', async () => {
  const answer = await post();
  expect(answer.status).toBe(200);
  expect(answer.headers.has('mcp-session-id')).toBe(false);
  expect(((await answer.json()) as { result: object }).result).toHaveProperty('tools');
  const notified = await post({ body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
  expect(notified.status).toBe(202);
});

test('/mcp refuses a caller without a token, and says what it takes', async () => {
  const answer = await post({ headers: { authorization: '' } });
  expect(answer.status).toBe(401);
  expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  expect((await post({ headers: { authorization: '', cookie: 'token=a' } })).status).toBe(401);
});

test('/mcp refuses pages of other sites', async () => {
  const refused = await post({ headers: { origin: 'https://evil.example.com' } });
  expect(refused.status).toBe(403);
  expect(refused.headers.has('access-control-allow-origin')).toBe(false);
});

test.each([
  ['a list of messages', { body: [{ jsonrpc: '2.0', id: 1, method: 'ping' }] }, 400],
  ['what is not JSON', { body: '{' }, 400],
  ['a message that is none of JSON-RPC', { body: { id: 1 } }, 400],
  ['a body beyond 1 MiB', { body: ' '.repeat(1024 * 1024 + 1) }, 413],
  ['another type', { headers: { 'content-type': 'text/plain' } }, 415],
  ['a client that reads no JSON', { headers: { accept: 'text/html' } }, 406],
] as const)('/mcp refuses %s', async (_, given, status) => {
  expect((await post(given)).status).toBe(status);
});

test('/mcp needs a workspace, and streams nothing', async () => {
  const { BASE_URL = '' } = stack.settings;
  const answer = await post({ url: new URL('/mcp', BASE_URL) });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ details: [{ field: 'workspace_id' }] });
  const headers = { authorization: `Bearer ${stack.settings.TOKEN}`, accept: 'text/event-stream' };
  const read = await fetch(addressOf({ allowWrites: false }), { headers });
  expect({ status: read.status, allow: read.headers.get('allow') }).toEqual({
    status: 405,
    allow: 'POST, OPTIONS',
  });
});

test('/mcp gives a caller nothing of a workspace that is not theirs', async () => {
  const body = {
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'lists_list', arguments: {} },
  };
  const url = new URL('/mcp?workspace_id=nobody', stack.settings.BASE_URL);
  const { result } = (await (await post({ body, url })).json()) as {
    result: { isError: boolean; content: { text: string }[] };
  };
  expect(result.isError).toBe(true);
  expect(result.content[0]?.text).toMatch(/not a member/);
});
