import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import { Agent, request } from 'undici';
import { certificate } from '../test/certificate.ts';
import { programVariables } from '../test/setup/program.ts';
import { serviceKeys } from './testing.ts';

let child: ChildProcess | undefined;

afterEach(() => {
  child?.kill('SIGKILL');
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function run(env: Record<string, string>, stderr: 'ignore' | 'pipe' = 'ignore'): ChildProcess {
  const main = new URL('../deploy/postrider/main.ts', import.meta.url).pathname;
  return fork(main, ['gateway'], {
    env: { ...programVariables(), ...env },
    execArgv: [],
    stdio: ['ignore', 'ignore', stderr, 'ipc'],
  });
}

const services = ['BROADCASTS', 'CONTACTS', 'MESSAGES', 'TEMPLATES', 'WEBHOOKS', 'WORKSPACES'];

const settings = (port: number) => ({
  GATEWAY_PORT: `${port}`,
  SERVICE_KEYS: serviceKeys,
  ...Object.fromEntries(services.map((name) => [`${name}_ADDR`, '127.0.0.1:1'])),
});

test('the process sends ready, answers, and exits with 0 on SIGTERM', async () => {
  const port = await freePort();
  child = run(settings(port));
  expect(await once(child, 'message')).toEqual(['ready', undefined]);
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  const refused = await fetch(`http://127.0.0.1:${port}/api/user.rootSignin`, {
    method: 'POST',
    body: Buffer.from('{}'),
  });
  expect(refused.status).toBe(503);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test.each([
  ['https://mail.example.com', 'max-age=31536000'],
  ['http://mail.example.com', null],
])('with PUBLIC_URL %s the HSTS header is %p', async (url, expected) => {
  const port = await freePort();
  child = run({ ...settings(port), PUBLIC_URL: url });
  await once(child, 'message');
  for (const path of ['/healthz', '/openapi.json', '/nowhere']) {
    const { headers } = await fetch(`http://127.0.0.1:${port}${path}`);
    expect(headers.get('strict-transport-security')).toBe(expected);
  }
});

test('the process does not start without the address of a service, and names every one that is missing', async () => {
  child = run({ GATEWAY_PORT: '1', SERVICE_KEYS: serviceKeys }, 'pipe');
  const [[code], output] = await Promise.all([once(child, 'exit'), text(child.stderr!)]);
  expect(code).not.toBe(0);
  expect(output).toContain(services.map((name) => `${name}_ADDR is not set`).join('; '));
});

test('with a certificate the process speaks HTTPS, and nothing else', async () => {
  const [port, folder] = [await freePort(), mkdtempSync(join(tmpdir(), 'postrider-gateway-'))];
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  writeFileSync(files.cert, certificate.cert);
  writeFileSync(files.key, certificate.key);
  child = run({
    ...settings(port),
    GATEWAY_TLS_CERT_FILE: files.cert,
    GATEWAY_TLS_KEY_FILE: files.key,
  });
  await once(child, 'message');
  rmSync(folder, { recursive: true });
  const dispatcher = new Agent({ connect: { ca: certificate.cert } });
  const { statusCode, headers, body } = await request(`https://127.0.0.1:${port}/healthz`, {
    dispatcher,
  });
  expect([statusCode, await body.json()]).toEqual([200, { status: 'ok' }]);
  expect(headers['strict-transport-security']).toBe('max-age=31536000');
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
  await dispatcher.close();
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
