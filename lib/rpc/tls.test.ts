import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Code, createClient } from '@connectrpc/connect';
import * as grpc from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Health } from '#gen/grpc/health/v1/health_pb.ts';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { keyring, ownerEverywhere } from '../../test/setup/service.ts';
import { readEnv } from '../config.ts';
import { createLog } from '../log.ts';
import { connectTo } from './client/client.ts';
import { type RunningService, serve } from './server/serve.ts';
import { readClientTls, readServerTls } from './tls.ts';

const folder = mkdtempSync(join(tmpdir(), 'postrider-tls-'));
const file = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

/** Our own authority, and the certificates of a server and a client that it has signed. */
beforeAll(() => {
  const run = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const request = (name: string) => ['-subj', `/CN=${name}`, '-keyout', `${name}.key`];
  run('req', '-x509', ...key, ...request('ca'), '-out', 'ca.pem', '-days', '2');
  writeFileSync(file('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  for (const name of ['server', 'client']) {
    run('req', '-new', ...key, ...request(name), '-out', `${name}.csr`);
    const signed = ['-in', `${name}.csr`, '-out', `${name}.pem`, '-days', '2'];
    run('x509', '-req', ...signed, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-extfile', 'names');
  }
});

let server: RunningService;
afterEach(() => server.drain());

const own = (name: string) => ({
  TLS_CERT_FILE: file(`${name}.pem`),
  TLS_KEY_FILE: file(`${name}.key`),
});

async function givenServer(env: Record<string, string> = {}, reflection = true): Promise<string> {
  server = await serve(
    {
      services: [AudienceService],
      routes: (router) => router.service(AudienceService, {}),
      keyring,
      authorize: ownerEverywhere,
      demo: false,
      log: createLog('test', 'silent'),
      tls: readEnv({ ...own('server'), ...env }, readServerTls),
      reflection,
      isReady: async () => true,
    },
    { host: '127.0.0.1', port: 0 },
  );
  return `127.0.0.1:${server.port}`;
}

/** The result of a call by our own client: the code, or `ok`. */
async function callBy(address: string, env: Record<string, string>): Promise<string> {
  const client = createClient(Health, connectTo(address, { tls: readEnv(env, readClientTls) }));
  return client.check({}).then(
    () => 'ok',
    ({ code }: { code: Code }) => Code[code],
  );
}

/** Calls health, or the given path, by a stock gRPC client: returns 0 or an error's code. */
function stockCall(
  address: string,
  credentials: grpc.ChannelCredentials,
  path = '/grpc.health.v1.Health/Check',
): Promise<number> {
  const client = new grpc.Client(address, credentials);
  const whole = (bytes: Buffer) => bytes;
  return new Promise<number>((done) => {
    client.makeUnaryRequest(path, whole, whole, Buffer.alloc(0), (error) => done(error?.code ?? 0));
  }).finally(() => client.close());
}

const read = (name: string) => readFileSync(file(name));

test('a service with TLS is reachable only for clients that trust its authority', async () => {
  const address = await givenServer();
  expect(await callBy(address, { TLS_CA_FILE: file('ca.pem') })).toBe('ok');
  expect(await callBy(address, { TLS_CA_FILE: file('client.pem') })).toBe('Unavailable');
  expect(await callBy(address, {})).toBe('Unavailable');
  const trusting = grpc.credentials.createSsl(read('ca.pem'));
  expect(await stockCall(address, trusting)).toBe(0);
  expect(await stockCall(address, grpc.credentials.createSsl())).toBe(grpc.status.UNAVAILABLE);
});

test('with TLS_CLIENT_CA_FILE a client without a certificate is refused', async () => {
  const address = await givenServer({ TLS_CLIENT_CA_FILE: file('ca.pem') });
  const ca = { TLS_CA_FILE: file('ca.pem') };
  expect(await callBy(address, { ...ca, ...own('client') })).toBe('ok');
  expect(await callBy(address, ca)).toBe('Unavailable');
  const known = grpc.credentials.createSsl(read('ca.pem'), read('client.key'), read('client.pem'));
  expect(await stockCall(address, known)).toBe(0);
  const unknown = grpc.credentials.createSsl(read('ca.pem'));
  expect(await stockCall(address, unknown)).toBe(grpc.status.UNAVAILABLE);
});

test('reflection can be turned off', async () => {
  const address = await givenServer({}, false);
  const trusting = grpc.credentials.createSsl(read('ca.pem'));
  for (const version of ['v1', 'v1alpha']) {
    const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
    expect(await stockCall(address, trusting, path)).toBe(grpc.status.UNIMPLEMENTED);
  }
});

test.each<[string, Record<string, string>]>([
  ['a certificate without a key', { TLS_CERT_FILE: 'server.pem' }],
  ['a key without a certificate', { TLS_KEY_FILE: 'server.key' }],
  ['an authority for clients without a certificate', { TLS_CLIENT_CA_FILE: 'ca.pem' }],
])('%s is refused at start', async (_, names) => {
  await givenServer();
  const entries = Object.entries(names).map(([name, value]) => [name, file(value)]);
  expect(() => readEnv(Object.fromEntries(entries), readServerTls)).toThrow(
    'TLS_CERT_FILE and TLS_KEY_FILE',
  );
});
