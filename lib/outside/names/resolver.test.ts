import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { startDnsServer, type Zone } from '../../../test/dns-server.ts';
import { createNames } from './resolver.ts';
import { createSystemFiles } from './system-files.ts';

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function givenNames({
  zones = () => 'absent',
  hosts = '',
  resolvConf = '',
}: {
  zones?: (name: string) => Zone;
  hosts?: string;
  resolvConf?: string;
}) {
  const server = await startDnsServer(zones);
  closing.push(() => server.close());
  const folder = await mkdtemp(join(tmpdir(), 'names-'));
  closing.push(() => rm(folder, { recursive: true }));
  const paths = { hosts: join(folder, 'hosts'), resolvConf: join(folder, 'resolv.conf') };
  await writeFile(paths.hosts, hosts);
  await writeFile(paths.resolvConf, resolvConf);
  const names = createNames({ servers: [server.address], readFiles: createSystemFiles(paths) });
  closing.push(() => names.close());
  const resolve = async (name: string, workspaceId = 'a') =>
    (await names.resolve(name, workspaceId)).map(({ address }) => address);
  const mailHosts = (domain: string, workspaceId = 'a') => names.mailHosts(domain, workspaceId);
  return { resolve, mailHosts, asked: server.asked };
}

const tarpit = (name: string): Zone =>
  name.endsWith('tarpit.example') ? 'silent' : { a: ['192.0.2.1'] };

test("another tenant's names resolve at once while names of one are never answered", async () => {
  const { resolve } = await givenNames({ zones: tarpit });
  const stuck = Array.from({ length: 100 }, (_, number) =>
    resolve(`mail${number}.tarpit.example`).catch((error) => error),
  );
  await sleep(50);
  const beganAtMs = performance.now();
  expect(await resolve('mail.example', 'b')).toEqual(['192.0.2.1']);
  expect(performance.now() - beganAtMs).toBeLessThan(500);
  for (const error of await Promise.all(stuck)) {
    expect(error).toMatchObject({ name: 'NameError', isOurs: true });
  }
});

test('one tenant has 16 queries open, and the rest of its names wait for a second', async () => {
  const { resolve, asked } = await givenNames({ zones: tarpit });
  const beganAtMs = performance.now();
  const stuck = Array.from({ length: 300 }, (_, number) =>
    resolve(`mail${number}.tarpit.example`).catch((error) => ({
      text: error.message,
      ms: performance.now() - beganAtMs,
    })),
  );
  const answers = (await Promise.all(stuck)) as { text: string; ms: number }[];
  const tooMany = answers.filter(({ text }) => text.startsWith('too many names'));
  expect(tooMany).toHaveLength(300 - 16);
  expect(Math.max(...tooMany.map(({ ms }) => ms))).toBeLessThan(2_000);
  expect(new Set(asked.filter((each) => each.startsWith('A ')))).toHaveProperty('size', 16);
});

test('a name that many ask for at once is asked of DNS once', async () => {
  const { resolve, asked } = await givenNames({ zones: () => ({ a: ['192.0.2.1'] }) });
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, number) => resolve('mail.example', `tenant${number}`)),
  );
  expect(new Set(answers.flat())).toEqual(new Set(['192.0.2.1']));
  expect(asked.toSorted()).toEqual(['A mail.example', 'AAAA mail.example']);
});

test('an answer is kept for its time to live, one of zero for a second', async () => {
  const { resolve, asked } = await givenNames({
    zones: (name) => ({ a: ['192.0.2.1'], ttl: name === 'short.example' ? 0 : 60 }),
  });
  const ask = async () => {
    await resolve('long.example');
    await resolve('SHORT.example');
  };
  await ask();
  await ask();
  expect(asked.filter((each) => each.startsWith('A '))).toHaveLength(2);
  await sleep(1_100);
  await ask();
  expect(asked.filter((each) => each === 'A long.example')).toHaveLength(1);
  expect(asked.filter((each) => each === 'A short.example')).toHaveLength(2);
});

test.each([
  ['absent', false],
  ['broken', true],
  ['silent', true],
] as const)(
  'a name whose zone is %s fails, and is not asked again at once',
  async (zone, isOurs) => {
    const { resolve, asked } = await givenNames({ zones: () => zone });
    const failure = { name: 'NameError', isOurs };
    await expect(resolve('mail.example')).rejects.toMatchObject(failure);
    const count = asked.length;
    await expect(resolve('mail.example')).rejects.toMatchObject(failure);
    expect(asked).toHaveLength(count);
  },
);

test('a name without addresses of either family does not resolve, without trouble of ours', async () => {
  const { resolve } = await givenNames({ zones: () => ({}) });
  await expect(resolve('mail.example')).rejects.toMatchObject({ isOurs: false });
});

test('IPv4 comes first where this machine has it, and a name with IPv6 alone resolves', async () => {
  const { resolve } = await givenNames({
    zones: (name) =>
      name === 'both.example'
        ? { a: ['192.0.2.1'], aaaa: ['2001:db8::1'] }
        : { aaaa: ['2001:db8::2'] },
  });
  expect(await resolve('both.example')).toEqual(['192.0.2.1', '2001:db8::1']);
  expect(await resolve('six.example')).toEqual(['2001:db8::2']);
});

test('the hosts file and localhost are known without DNS', async () => {
  const { resolve, asked } = await givenNames({
    zones: () => 'silent',
    hosts: '# ours\n10.0.0.7\tRelay.example relay # the relay\nfe80::1%lo0 relay\n10.0.0.8 relay\n',
  });
  expect(await resolve('relay.example')).toEqual(['10.0.0.7']);
  expect(await resolve('RELAY')).toEqual(['10.0.0.7', '10.0.0.8']);
  expect(await resolve('localhost')).toEqual(['127.0.0.1', '::1']);
  expect(await resolve('a.localhost.')).toEqual(['127.0.0.1', '::1']);
  expect(asked).toEqual([]);
});

test('names are completed as resolv.conf says, as in Kubernetes', async () => {
  const known = new Set(['relay.mail.svc.cluster.local', 'smtp.example.com', 'plain']);
  const { resolve, asked } = await givenNames({
    zones: (name) => (known.has(name) ? { a: ['10.0.0.9'] } : 'absent'),
    resolvConf:
      'search mine.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n',
  });
  expect(await resolve('relay.mail')).toEqual(['10.0.0.9']);
  expect(await resolve('relay.mail.svc')).toEqual(['10.0.0.9']);
  expect(await resolve('plain')).toEqual(['10.0.0.9']);
  asked.length = 0;
  expect(await resolve('smtp.example.com')).toEqual(['10.0.0.9']);
  expect(asked.filter((each) => each.startsWith('A '))).toEqual([
    'A smtp.example.com.mine.svc.cluster.local',
    'A smtp.example.com.svc.cluster.local',
    'A smtp.example.com.cluster.local',
    'A smtp.example.com',
  ]);
  asked.length = 0;
  expect(await resolve('smtp.example.com.')).toEqual(['10.0.0.9']);
  expect(asked.filter((each) => each.startsWith('A '))).toEqual(['A smtp.example.com']);
});

test('without resolv.conf a name is asked as it is', async () => {
  const { resolve, asked } = await givenNames({ zones: () => ({ a: ['192.0.2.1'] }) });
  await resolve('relay');
  expect(asked.filter((each) => each.startsWith('A '))).toEqual(['A relay']);
});

test('mail hosts come by their preference, and a domain is asked of DNS once', async () => {
  const zone: Zone = { mx: ['MX1.mail.example', 'mx0.mail.example'] };
  const { mailHosts, asked } = await givenNames({ zones: () => zone });
  const all = await Promise.all([mailHosts('a.example'), mailHosts('A.example', 'b')]);
  expect(all).toEqual([1, 2].map(() => ['mx1.mail.example', 'mx0.mail.example']));
  expect(await mailHosts('a.example')).toHaveLength(2);
  expect(asked).toEqual(['MX a.example']);
});

test.each([
  ['absent', 'absent' as const],
  ['without MX records', {}],
  ['that takes no mail', { mx: ['.'] }],
])('a domain that is %s has no mail hosts', async (_, zone) => {
  const { mailHosts } = await givenNames({ zones: () => zone });
  expect(await mailHosts('a.example')).toEqual([]);
});

test('mail hosts of a domain that DNS does not answer are trouble of ours, for one tenant alone', async () => {
  const { mailHosts } = await givenNames({
    zones: (name) => (name.endsWith('tarpit.example') ? 'silent' : { mx: ['mx.example'] }),
  });
  const stuck = Array.from({ length: 100 }, (_, number) =>
    mailHosts(`d${number}.tarpit.example`).catch((error) => error),
  );
  expect(await mailHosts('a.example', 'b')).toEqual(['mx.example']);
  for (const error of await Promise.all(stuck)) {
    expect(error).toMatchObject({ name: 'NameError', isOurs: true });
  }
});
