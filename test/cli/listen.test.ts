import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { verifyWebhook } from '../../clients/typescript/src/webhooks.ts';
import { programVariables } from '../setup/program.ts';
import { good, unique } from '../stack/given.ts';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';

/** `postrider listen` and `trigger`, on a stack, with a server as developers have it. */

const program = resolve(import.meta.dirname, '../../deploy/postrider/main.ts');

const stack = borrowedStack();
let home: string;
let env: Record<string, string | undefined>;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'postrider-listen-'));
  const { BASE_URL } = stack.settings;
  const TOKEN = await ownerToken(stack.settings);
  env = { ...programVariables(), HOME: home, BASE_URL, TOKEN };
});

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

type Run = { out: () => string; err: () => string; lines: () => Line[]; child: Child };
type Child = ChildProcessWithoutNullStreams;
type Line = { type: string; id: string; status?: number; error?: string; ms: number };

function start(workspaceId: string, ...args: string[]): Run {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...env, WORKSPACE_ID: workspaceId },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (part) => {
    out += part;
  });
  child.stderr.on('data', (part) => {
    err += part;
  });
  child.stdin.end();
  ends.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  });
  const lines = () =>
    out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  return { child, out: () => out, err: () => err, lines };
}

async function ended({ child }: Run): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'close');
  return child.exitCode;
}

/** A listener that has begun. */
async function listening(workspaceId: string, url: string, ...args: string[]): Promise<Run> {
  const run = start(workspaceId, 'listen', '--forward-to', url, ...args);
  await until('it listens', async () => run.err().includes('Ctrl-C ends'));
  return run;
}

const secret = () => readFileSync(join(home, '.config/postrider/listen-secret'), 'utf8').trim();

/** A server that verifies what comes as the guide says, and answers a status. */
async function givenServer(answer: (type: string) => number = () => 200, port = 0) {
  const events: { type: string; id: string; data: object }[] = [];
  const server: Server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const { headers } = request;
    const event = await verifyWebhook({ body, headers, secret: secret() });
    events.push(event as never);
    response.statusCode = answer(event.type);
    response.end('thanks');
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  ends.push(close);
  const address = server.address();
  const own = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return { url: `http://127.0.0.1:${own}/hooks`, port: own, events, close };
}

const call = async (operation: string, body: object) =>
  good(await stack.call(operation, body, { token: env.TOKEN }));

async function upsert(workspaceId: string): Promise<string> {
  const email = `${unique('a')}@example.com`;
  await call('contacts.upsert', { workspace_id: workspaceId, contact: { email } });
  return email;
}

test('events come signed as webhooks are, with a line each, and a Ctrl-C ends the listener', async () => {
  const { id } = await givenWorkspace(stack);
  const server = await givenServer();
  const run = await listening(id, server.url, '--events', 'contact.created,contact.updated');
  const email = await upsert(id);
  await until('the event came', async () => server.events.length === 1);
  expect(server.events[0]).toMatchObject({ type: 'contact.created', data: { contact: { email } } });
  await until('its line is there', async () => run.lines().length === 1);
  expect(run.lines()).toMatchObject([
    { type: 'contact.created', id: server.events[0]?.id, status: 200 },
  ]);
  run.child.kill('SIGINT');
  expect(await ended(run)).toBe(0);
  const file = join(home, '.config/postrider/listen-secret');
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
  expect(run.err()).toContain(secret());
  const triggered = start(id, 'trigger', 'contact.created');
  expect(await ended(triggered)).toBe(1);
  expect(triggered.err()).toContain('No listener wants contact.created');
});

test('trigger shows an email.bounced without a mail, to each listener and none of another workspace', async () => {
  const [{ id }, { id: other }] = [await givenWorkspace(stack), await givenWorkspace(stack)];
  const [one, two, foreign] = [await givenServer(), await givenServer(), await givenServer()];
  await listening(id, one.url);
  await listening(id, two.url);
  await listening(other, foreign.url);
  const triggered = start(id, 'trigger', 'email.bounced');
  expect(await ended(triggered)).toBe(0);
  expect(JSON.parse(triggered.out())).toEqual({ listeners: 2 });
  await until('both have it', async () => one.events.length + two.events.length === 2);
  expect([one.events[0]?.type, two.events[0]?.type]).toEqual(['email.bounced', 'email.bounced']);
  expect(one.events[0]?.id).not.toBe(two.events[0]?.id);
  expect(foreign.events).toEqual([]);
});

test('events wait for a local server that is down, in their order, and none is lost', async () => {
  const { id } = await givenWorkspace(stack);
  const before = await givenServer();
  await before.close();
  const run = await listening(id, before.url, '--events', 'contact.created');
  const emails = [await upsert(id), await upsert(id), await upsert(id)];
  await until('it says so', async () => run.err().includes('takes no events (ECONNREFUSED)'));
  const server = await givenServer(() => 200, before.port);
  await until('all came', async () => server.events.length === 3);
  expect(server.events.map(({ data }) => (data as Contact).contact.email)).toEqual(emails);
  await until('each has its line', async () => run.lines().length === 3);
});

type Contact = { contact: { email: string } };

test('a server that answers errors or hangs stops no other event', async () => {
  const { id } = await givenWorkspace(stack);
  const server = await givenServer((type) => (type === 'contact.created' ? 500 : 201));
  const run = await listening(id, server.url);
  for (const type of ['contact.created', 'email.opened']) {
    expect(await ended(start(id, 'trigger', type))).toBe(0);
  }
  await until('both have a line', async () => run.lines().length === 2);
  expect(run.lines().map(({ status }) => status)).toEqual([500, 201]);
});

test('events that have come are sent again by id, and by time', async () => {
  const { id } = await givenWorkspace(stack);
  const server = await givenServer();
  const run = await listening(id, server.url);
  await upsert(id);
  await until('the event came', async () => run.lines().length > 0);
  const [line] = run.lines();
  run.child.kill('SIGTERM');
  expect(await ended(run)).toBe(0);
  const again = start(id, 'listen', '--forward-to', server.url, '--replay', line?.id ?? '');
  expect(await ended(again)).toBe(0);
  expect(again.lines()).toMatchObject([{ id: line?.id, status: 200 }]);
  const all = await listening(id, server.url, '--since', '10m');
  await until('it came once more', async () => all.lines().length > 0);
  expect(all.lines()[0]).toMatchObject({ id: line?.id, type: line?.type });
  const none = ['listen', '--forward-to', server.url, '--replay', crypto.randomUUID()];
  expect(await ended(start(id, ...none))).toBe(4);
});

test('a gateway that restarts loses no event', async () => {
  const { id } = await givenWorkspace(stack);
  const server = await givenServer();
  const run = await listening(id, server.url, '--events', 'contact.created');
  await stack.processes.without(['gateway'], () =>
    until('it says so', async () => run.err().includes('The gateway does not answer')),
  );
  await stack.untilServing();
  const email = await upsert(id);
  await until('the event came', async () => server.events.length === 1);
  expect(server.events).toMatchObject([{ data: { contact: { email } } }]);
  expect(run.err()).toContain('The gateway answers again');
});

test('a workspace that is deleted meanwhile ends the listening', async () => {
  const { id } = await givenWorkspace(stack);
  const server = await givenServer();
  const run = await listening(id, server.url);
  await call('workspaces.delete', { id });
  expect(await ended(run)).toBeGreaterThan(2);
});

test('a key that only reads cannot listen, but sends again', async () => {
  const { id } = await givenWorkspace(stack);
  const permissions = {
    webhooks: { read: true, write: false },
    contacts: { read: true, write: false },
    message_history: { read: true, write: false },
  };
  const key = await call('workspaces.createAPIKey', {
    workspace_id: id,
    email_prefix: 'reader',
    permissions,
  });
  const token = env.TOKEN;
  const server = await givenServer();
  const run = await listening(id, server.url);
  await upsert(id);
  await until('the event came', async () => run.lines().length > 0);
  env.TOKEN = key.token;
  try {
    const refused = start(id, 'listen', '--forward-to', server.url);
    expect(await ended(refused)).toBe(3);
    const args = ['listen', '--forward-to', server.url, '--replay', run.lines()[0]?.id ?? ''];
    expect(await ended(start(id, ...args))).toBe(0);
  } finally {
    env.TOKEN = token;
  }
});

test('a command line that is wrong is refused before anything is made', async () => {
  const cases = [
    ['listen'],
    ['listen', '--forward-to', 'ftp://example.com'],
    ['listen', '--forward-to', 'localhost:1', '--since', 'soon'],
    ['trigger'],
  ];
  for (const args of cases) expect(await ended(start('none', ...args))).toBe(2);
});
