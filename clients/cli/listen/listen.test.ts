import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { programVariables } from '../../../test/setup/program.ts';

/** `postrider listen` with gateways that answer as the test says. */

const program = resolve(import.meta.dirname, '../../../deploy/postrider/main.ts');

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

type Answer = { status?: number; body: unknown };
type Respond = (path: string, request: Json, call: number) => Answer;
type Json = Record<string, unknown>;

async function serve(answer: (path: string, body: string, response: ServerResponse) => void) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    answer(String(request.url), body, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const created = (id: string) => ({
  listener: { id, event_types: ['email.sent'], created_at: '2026-11-27T04:00:00Z' },
});
const eventOf = (id: string, more: Json = {}) => ({
  ...{ id, type: 'email.sent', timestamp: '2026-11-27T04:00:00Z', data: { email: 'a@b.example' } },
  ...more,
});

/** The program with a gateway, and a local server that takes everything. */
async function given(respond: Respond) {
  const calls: { path: string; request: Json }[] = [];
  const gateway = await serve((path, body, response) => {
    const request: Json = body === '' ? {} : JSON.parse(body);
    calls.push({ path, request });
    const { status = 200, body: answer } = respond(path, request, calls.length);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  });
  const local: string[] = [];
  const url = await serve((_, body, response) => {
    local.push(JSON.parse(body).id);
    response.end();
  });
  const home = mkdtempSync(join(tmpdir(), 'postrider-listen-'));
  const env = {
    ...programVariables(),
    HOME: home,
    BASE_URL: gateway,
    TOKEN: 't',
    WORKSPACE_ID: 'w',
  };
  const run = (...args: string[]) => {
    const all = [program, 'listen', '--forward-to', url, ...args];
    const child = spawn(process.execPath, all, { env });
    ends.push(() => child.kill('SIGKILL'));
    const said = { out: '', err: '' };
    child.stdout.on('data', (part) => {
      said.out += part;
    });
    child.stderr.on('data', (part) => {
      said.err += part;
    });
    const over = once(child, 'close').then(([code]) => code as number | null);
    return { child, said, over };
  };
  return { calls, local, run, home };
}

const take = '/api/webhookListeners.take';
const create = '/api/webhookListeners.create';

test('a listener that has ended is replaced by another, and what it gave is sent all the same', async () => {
  let made = 0;
  const { local, run, calls } = await given((path, request) => {
    if (path === create) {
      made += 1;
      return { body: created(`listener${made}`) };
    }
    if (path !== take) return { body: { success: true } };
    const isFirst = request.id === 'listener1';
    const isTaken = (request.taken_ids as string[]).length > 0;
    if (isFirst && isTaken) {
      return { status: 404, body: { error: 'gone', reason: 'WEBHOOK_LISTENER_NOT_FOUND' } };
    }
    const events = isTaken ? [] : [eventOf(isFirst ? 'one' : 'two')];
    // Once: a call that the signal has cut comes again, and a second signal ends it at once.
    if (!isFirst && isTaken && !child.killed) child.kill('SIGINT');
    return { body: { events, dropped: 0 } };
  });
  const { child, said, over } = run();
  expect(await over).toBe(0);
  expect(local).toEqual(['one', 'two']);
  expect(said.err).toContain('The listener had ended');
  expect(calls.at(-1)).toMatchObject({
    path: '/api/webhookListeners.end',
    request: { id: 'listener2' },
  });
});

test.each([
  ['an id that would be a header of its own', { id: 'a\r\nx: y' }],
  ['data that are none', { data: null }],
  ['a type that is none', { type: 7 }],
])('%s ends the listening, and nothing is sent', async (_, over) => {
  const { local, run } = await given((path) =>
    path === create
      ? { body: created('one') }
      : { body: { events: [eventOf('id', over)], dropped: 0 } },
  );
  const { said, over: end } = run();
  expect(await end).toBe(1);
  expect(said.err).toContain('what is no event');
  expect(local).toEqual([]);
});

test('an answer that is nonsense ends the listening with words', async () => {
  const { run } = await given((path) =>
    path === create ? { body: created('one') } : { body: 'hello' },
  );
  const { said, over } = run();
  expect(await over).toBe(1);
  expect(said.err).toContain('what is no list of events');
});

test('a token that is refused meanwhile ends the listening', async () => {
  const { run } = await given((path) =>
    path === create ? { body: created('one') } : { status: 401, body: { error: 'no token' } },
  );
  expect(await run().over).toBe(3);
});

test('a gateway that has too much to do is asked again later, and no event is lost', async () => {
  let refusals = 0;
  const { local, run } = await given((path, request) => {
    if (path === create) return { body: created('one') };
    if (refusals < 2) {
      refusals += 1;
      return { status: refusals === 1 ? 429 : 503, body: { error: 'later' } };
    }
    if (((request.taken_ids ?? []) as string[]).length === 0) {
      return { body: { events: [eventOf('one')], dropped: 3 } };
    }
    if (!child.killed) child.kill('SIGINT');
    return { body: { events: [], dropped: 3 } };
  });
  const { child, said, over } = run();
  expect(await over).toBe(0);
  expect(local[0]).toBe('one');
  expect(said.err).toContain('The gateway answers again');
  expect(said.err).toContain('3 events were lost: too many waited.');
});

test('a file that holds no secret is named', async () => {
  const { run, home, calls } = await given(() => ({ body: created('one') }));
  const { over } = run('--since', '1h1');
  expect(await over).toBe(2);
  const folder = join(home, '.config/postrider');
  const { over: first, child } = run();
  await once(child.stderr, 'data');
  child.kill('SIGINT');
  await first;
  writeFileSync(join(folder, 'listen-secret'), 'whsec_short');
  const before = calls.length;
  const { said, over: end } = run();
  expect(await end).toBe(2);
  expect(said.err).toContain('listen-secret holds no signing secret');
  expect(calls).toHaveLength(before);
});
