import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Readiness, RunningProcess } from '#lib/process/part.ts';
import { type HealthPort, serveHealth } from './health.ts';

let state: Readiness;
const parts = new Map<string, RunningProcess | undefined>();
let health: HealthPort;
beforeEach(async () => {
  state = { missing: [], warnings: [] };
  const running = { log: {} as never, readiness: async () => state, stop: async () => {} };
  parts.set('contacts', running).set('gateway', undefined);
  health = await serveHealth(parts, { host: '127.0.0.1', port: 0 });
});
afterEach(() => void health.server.close());

async function get(path: string, method = 'GET') {
  const { port } = health.server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method });
  return { status: answer.status, body: Object(await answer.json()) };
}

test('a process is alive while its parts start, and not ready', async () => {
  expect((await get('/healthz')).status).toBe(200);
  expect(await get('/readyz')).toEqual({
    status: 503,
    body: { ready: false, missing: ['gateway is starting'], warnings: [] },
  });
});

test('a part names what it misses, and warnings leave it ready', async () => {
  parts.delete('gateway');
  state = { missing: [], warnings: ['an attribute is missing'] };
  const warnings = ['contacts: an attribute is missing'];
  expect(await get('/readyz')).toEqual({
    status: 200,
    body: { ready: true, missing: [], warnings },
  });
  state = { missing: ['its database'], warnings: [] };
  expect((await get('/readyz')).body.missing).toEqual(['contacts: its database']);
});

test('a process that shuts down is not ready, but alive', async () => {
  parts.delete('gateway');
  health.drain();
  expect((await get('/readyz')).status).toBe(503);
  expect((await get('/healthz')).status).toBe(200);
});

test('a probe is answered beside 100 idle connections', async () => {
  const { port } = health.server.address() as AddressInfo;
  const idle = Array.from({ length: 100 }, () => connect(port, '127.0.0.1'));
  await Promise.all(idle.map((socket) => once(socket, 'connect')));
  expect((await get('/healthz')).status).toBe(200);
  for (const socket of idle) socket.destroy();
});

test('other paths and methods are refused', async () => {
  expect((await get('/')).status).toBe(404);
  expect((await get('/healthz', 'POST')).status).toBe(405);
});
