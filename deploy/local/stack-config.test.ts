import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { deriveKey } from '#lib/keys/derive.ts';
import { keysFile, readKeys } from '../keys/file.ts';
import { recordProcesses, releaseLock, takeLock } from './lock.ts';
import { isFree } from './ports.ts';
import { loadSecrets } from './secrets.ts';
import { checkPorts, readStackConfig } from './stack-config.ts';

const root = mkdtempSync(join(tmpdir(), 'postrider-stack-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A stack has fewer. */
const portsMax = 60;

/** A server on the third port of a range whose other ports are free. */
async function givenBusy() {
  for (;;) {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const base = (other.address() as AddressInfo).port - 2;
    const others = [...Array(portsMax).keys()].filter((each) => each !== 2);
    const free = await Promise.all(others.map((each) => isFree(base + each)));
    if (free.every(Boolean)) return { other, base };
    other.close();
  }
}

test('the error for a busy port names its user and the variable to set', async () => {
  const { other, base } = await givenBusy();
  try {
    const config = readStackConfig({ POSTRIDER_PORT: String(base) }, root);
    await expect(checkPorts(config)).rejects.toThrow(
      `port ${base + 2} is in use, and the inbox page wants it. POSTRIDER_PORT moves all ports`,
    );
  } finally {
    other.close();
  }
});

test('PUBLIC_URL can be set, and every wrong setting is named in one error', () => {
  const { publicUrl } = readStackConfig({ PUBLIC_URL: 'https://mail.example.com/' }, root);
  expect(publicUrl).toBe('https://mail.example.com');
  expect(readStackConfig({ POSTRIDER_PORT: '5000' }, root).publicUrl).toBe('http://127.0.0.1:5000');
  const wrong = {
    PUBLIC_URL: 'mail.example.com',
    DATABASE_URL: 'mysql://x',
    MESSAGES_REPLICAS: '9',
  };
  expect(() => readStackConfig(wrong, root)).toThrow(
    'MESSAGES_REPLICAS must be from 1 to 8; PUBLIC_URL must be like https://mail.example.com; DATABASE_URL: the database URL must be like postgresql://',
  );
});

test('a second messages process gets a port ten above', () => {
  const { ports } = readStackConfig({ POSTRIDER_PORT: '5000', MESSAGES_REPLICAS: '2' }, root);
  expect(ports.services.messages).toEqual([5014, 5024]);
});

test('two of every process have ports of their own', () => {
  const { ports } = readStackConfig({ POSTRIDER_PORT: '5000', REPLICAS: '2' }, root);
  expect(ports.services).toMatchObject({ contacts: [5011, 5021], messages: [5014, 5024] });
  expect(ports.moreGateways).toEqual([{ http: 5007, grpc: 5008 }]);
  const { services, moreGateways, metrics, ...others } = ports;
  const all = [services, moreGateways.map((each) => Object.values(each)), metrics, others];
  const numbers = all.flatMap((each) => Object.values(each)).flat();
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(Object.keys(metrics)).toHaveLength(20);
});

test('the URL of an own PostgreSQL is taken as it is, for the account that makes databases', () => {
  const url = 'postgresql://root:x@127.0.0.1:5432/mine';
  expect(readStackConfig({ DATABASE_URL: url }, root).own.databaseUrl).toBe(url);
});

test('a URL for each service takes the place of the local PostgreSQL', () => {
  const names = ['workspaces', 'contacts', 'templates', 'broadcasts', 'messages', 'webhooks'];
  const url = (name: string) => `postgresql://${name}:x@127.0.0.1:5432/${name}`;
  const given = names.map((name) => [`${name.toUpperCase()}_DATABASE_URL`, url(name)]);
  const { own } = readStackConfig(Object.fromEntries(given), root);
  expect(own.databaseUrls).toEqual(Object.fromEntries(names.map((name) => [name, url(name)])));
  expect(() => readStackConfig(Object.fromEntries(given.slice(1)), root)).toThrow(
    'WORKSPACES_DATABASE_URL is not set',
  );
});

test('one process runs a folder, and pids lists its processes', async () => {
  await takeLock(root);
  await expect(takeLock(root)).rejects.toThrow(`runs already on ${root} (process ${process.pid})`);
  recordProcesses(root, new Map([['gateway', process.pid]]));
  const pids = JSON.parse(readFileSync(join(root, 'pids'), 'utf8'));
  expect(pids).toEqual({ supervisor: process.pid, gateway: process.pid });
  expect(statSync(join(root, 'pids')).mode & 0o777).toBe(0o600);
  releaseLock(root);
  expect(existsSync(join(root, 'lock'))).toBe(false);
});

test('the next start ends the processes that a killed one left', async () => {
  const lock = join(import.meta.dirname, 'lock.ts');
  const left = spawn('sleep', ['60']);
  const code = `const { takeLock, recordProcesses } = await import('${lock}');
    await takeLock('${root}');
    recordProcesses('${root}', new Map([['gateway', ${left.pid}]]));`;
  await once(spawn(process.execPath, ['--input-type=module', '-e', code]), 'exit');
  const ended = once(left, 'exit');
  await takeLock(root);
  expect(await ended).toEqual([null, 'SIGKILL']);
  releaseLock(root);
});

test('secrets are created once and readable by their owner only', () => {
  const first = loadSecrets(root, undefined);
  expect(loadSecrets(root, undefined)).toEqual(first);
  expect(Object.keys(first.rolePasswords)).toHaveLength(6);
  expect(statSync(join(root, 'secrets.json')).mode & 0o777).toBe(0o600);
});

test('a folder from before keysets keeps its links, a fresh one has keys of its own', () => {
  const older = mkdtempSync(join(tmpdir(), 'postrider-older-'));
  const { secretKey } = loadSecrets(root, undefined);
  writeFileSync(join(older, 'secrets.json'), JSON.stringify({ secretKey }));
  const linkOf = (folder: string) => readKeys(keysFile(folder)).macs['postrider/links'];
  expect(loadSecrets(older, undefined).secretKey).toBe(secretKey);
  const derived = deriveKey(secretKey, 'postrider/links').toString('base64url');
  expect(linkOf(older)).toEqual([derived]);
  expect(readKeys(keysFile(older)).before).toBeDefined();
  expect(linkOf(root)).not.toEqual([derived]);
  expect(readKeys(keysFile(root)).before).toBeUndefined();
  expect(statSync(keysFile(root)).mode & 0o777).toBe(0o600);
  rmSync(older, { recursive: true });
});
