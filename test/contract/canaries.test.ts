import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FeedServer, startFeedServer } from '../feed-server.ts';
import { act, draftOf, givenList, good, sendNow, unique, untilStatus } from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { historyText } from '../stack/workflows.ts';

/** Secrets, addresses and contents must not leak into logs, errors or histories. */

let feed: FeedServer;
const stack = borrowedStack();
beforeAll(async () => {
  feed = await startFeedServer();
  feed.behaviour = (_, response) => response.end(`{"note":"${canary}-fed"}`);
}, 60_000);
afterAll(() => feed.close());

const canary = unique('canary');
const people = ['taken', 'unknown', 'unwanted'].map((fate) => `${fate}.${canary}@example.com`);
const mjml = `<mjml><mj-body><mj-section><mj-column><mj-text>${canary}-body {{ contact.first_name }}
<a href="{{ unsubscribe_url }}">Leave</a></mj-text></mj-column></mj-section></mj-body></mjml>`;

async function givenContent(): Promise<string> {
  const { call, workspaceId } = stack;
  const listId = await givenList(stack);
  const contacts = people.map((email) => ({
    email,
    first_name: `${canary}-name`,
    custom_json_1: { note: `${canary}-note` },
  }));
  const body = { workspace_id: workspaceId, contacts, subscribe_to_lists: [listId] };
  good(await call('contacts.import', body));
  const templateId = unique('t');
  const email = { editor_mode: 'code', mjml_source: mjml, subject: `${canary}-subject` };
  const template = { name: 'Canary', channel: 'email', category: 'marketing', email };
  good(await call('templates.create', { workspace_id: workspaceId, id: templateId, ...template }));
  const draft = { ...draftOf(stack, { listId, templateId }), data_feed: feedsOf(feed) };
  return good(await call('broadcasts.create', draft)).broadcast.id;
}

function feedsOf({ url }: FeedServer) {
  const headers = [{ name: 'X-Key', value: `${canary}-feed-key` }];
  const asked = { enabled: true, url: `${url}/${canary}-path`, headers };
  return { global_feed: asked, recipient_feed: asked };
}

/** One is accepted, two are refused; the server's replies repeat the addresses. */
async function broadcastWithTroubles(id: string): Promise<void> {
  const replyTo = (email: string, reply: string) => ({
    step: 'rcpt' as const,
    recipient: `^${email.replaceAll('.', '\\.')}$`,
    reply,
  });
  const [, unknown = '', unwanted = ''] = people;
  await stack.sink.behave({
    replies: [
      replyTo(unknown, `550 5.1.1 <${unknown}> is unknown`),
      replyTo(unwanted, `550 5.7.1 no mail for <${unwanted}>`),
    ],
  });
  await sendNow(stack, id);
  await untilStatus(stack, id, 'sent');
}

/** The error texts of failing calls, each with a value that the text must not repeat. */
async function errorTexts(token: string): Promise<string[]> {
  const { call, workspaceId } = stack;
  const smtp = { host: '127.0.0.1', port: 0, username: 'u', password: `${canary}-password` };
  const provider = { kind: 'smtp', smtp, senders: [], rate_limit_per_minute: 1 };
  const integration = { workspace_id: workspaceId, name: 'I', type: 'email', provider };
  const answers = [
    await call('workspaces.createIntegration', integration, { token }),
    await call('contacts.upsert', {
      workspace_id: workspaceId,
      contact: { email: `${canary}@@x` },
    }),
    await call('contacts.getByEmail', undefined, {
      query: { workspace_id: workspaceId, email: `nobody.${canary}@example.com` },
    }),
    await call('broadcasts.get', undefined, {
      query: { workspace_id: workspaceId, id: 'none' },
      token: `${canary}.${canary}.${canary}`,
    }),
    await call('user.rootSignin', {
      email: `${canary}@example.com`,
      timestamp: 1,
      signature: `${canary}-signature`,
    }),
    await act(stack, 'resume', `${canary}-id`),
    await call('broadcasts.refreshGlobalFeed', {
      workspace_id: workspaceId,
      broadcast_id: 'none',
      url: `https://${canary}.internal/`,
      headers: [{ name: 'X-Key', value: `${canary}-feed-key` }],
    }),
  ];
  for (const { status } of answers) expect(status).toBeGreaterThanOrEqual(400);
  return answers.map(({ body }) => JSON.stringify(body));
}

function logText(): string {
  const folder = join(stack.folder, 'logs');
  const names = readdirSync(folder);
  expect(names).toEqual(expect.arrayContaining(['gateway.log', 'messages.log', 'broadcasts.log']));
  const files = [...names.map((name) => join(folder, name)), join(stack.folder, 'run.log')];
  return files.map((file) => readFileSync(file, 'utf8')).join('\n');
}

test('no secret, address or content is in a log, an error or a history', async () => {
  const token = await ownerToken(stack.settings);
  const { call, workspaceId, settings } = stack;
  const smtp = { host: '127.0.0.1', port: 2525, username: 'u', password: `${canary}-password` };
  const senders = [{ email: 'a@example.com', name: 'A', is_default: true }];
  const provider = { kind: 'smtp', smtp, senders, rate_limit_per_minute: 60 };
  const integration = { workspace_id: workspaceId, name: 'Spare', type: 'email', provider };
  const made = await call('workspaces.createIntegration', integration, { token });
  expect(JSON.stringify(good(made))).not.toContain(canary);
  const shown = await call('workspaces.get', undefined, { query: { id: workspaceId }, token });
  expect(JSON.stringify(good(shown))).not.toContain(`${canary}-password`);

  const id = await givenContent();
  await broadcastWithTroubles(id);
  const seen = {
    errors: (await errorTexts(token)).join('\n'),
    history: await historyText(stack, id),
    logs: logText(),
  };
  // The logs exist and are of this run.
  expect(feed.requests[0]?.headers['x-key']).toBe(`${canary}-feed-key`);
  // The result of an activity: payloads are read as well.
  expect(seen.history).toContain('pausedBy');
  expect(seen.logs).toContain('BroadcastService');
  const secrets = [canary, settings.SECRET_KEY ?? '', settings.TOKEN ?? '', token];
  for (const [place, text] of Object.entries(seen)) {
    const found = secrets.filter((secret) => text.includes(secret));
    expect([place, found, lineWith(text, found)]).toEqual([place, [], undefined]);
  }
}, 120_000);

function lineWith(text: string, [secret]: string[]): string | undefined {
  return secret && text.split('\n').find((line) => line.includes(secret));
}
