import { resolve } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { readOperations, writeOperations } from '../../clients/cli/mcp/tools.ts';
import { givenList, givenTemplate, good, importContacts, untilStatus } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { passTime } from '../stack/time.ts';

/** A client of the official SDK, with `postrider mcp` as its server, on a stack. */

const program = resolve(import.meta.dirname, '../../deploy/postrider/main.ts');

const stack = borrowedStack();
let end = async () => {};
afterEach(() => end());

async function connected(...options: string[]) {
  const { BASE_URL = '', TOKEN = '', WORKSPACE_ID = '' } = stack.settings;
  const env = { PATH: process.env.PATH ?? '', BASE_URL, TOKEN, WORKSPACE_ID };
  const args = [program, 'mcp', ...options];
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
  end = () => client.close();
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const [{ text = '' } = {}] = content as { text?: string }[];
    return { isError: isError === true, text, json: () => JSON.parse(text) };
  };
  return { client, call };
}

const nameOf = (operation: string) => operation.replace('.', '_');

test('a client that may only read has no tool that changes anything', async () => {
  const { client, call } = await connected();
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(readOperations.map(nameOf));
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
  for (const operation of writeOperations) {
    const answer = await call(nameOf(operation));
    expect(answer).toMatchObject({ isError: true, text: `there is no tool ${nameOf(operation)}` });
  }
});

test('a client drafts, sends and reads a whole A/B test', async () => {
  const { call } = await connected('--allow-writes');
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
  const { call } = await connected('--allow-writes');
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
  const { call } = await connected();
  expect(await call('lists_list', { workspace_id: 'other' })).toMatchObject({
    isError: true,
    text: 'lists_list takes no workspace_id',
  });
});

test('an error of the API is an answer that names the field', async () => {
  const { call } = await connected();
  const answer = await call('contacts_list', { limit: 5_000 });
  expect(answer).toMatchObject({ isError: true, text: expect.stringMatching(/limit/) });
});

test('every other tool that reads can be called', async () => {
  const { call } = await connected();
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
