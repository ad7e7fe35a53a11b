import { createPublicKey, sign, verify } from 'node:crypto';
import { inspect } from 'node:util';
import { Code } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import { DomainKeyState, DomainState } from '#gen/postrider/workspaces/v1/domains_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { signingKeyPlace } from '#lib/keys/places.ts';
import { query } from '#lib/postgres/query.ts';
import { keyringOf } from '../../../test/setup/service.ts';
import { newPair } from '../domains/keys.ts';
import { givenRoot } from '../test/given.ts';
import { statesOf, useServiceWithDns } from '../test/given-domain.ts';
import { givenWorkspace } from '../test/given-key.ts';

const given = useServiceWithDns();
let root: Claims;
let workspaceId: string;
beforeAll(async () => {
  given.context.makePair = newPair;
  root = await givenRoot(given);
  workspaceId = await givenWorkspace(given, root);
});

const create = (name: string, over: object = {}) =>
  given.domains(root).createDomain({ workspaceId, name, ...over });

test('create answers with the records to set, and with a zone that has them', async () => {
  const { domain } = await create('News.Example.com.', {
    dkimAlgorithms: ['ed25519', 'rsa'],
    returnPathHost: 'bounces.news.example.com',
    trackingHost: 'links.news.example.com',
  });
  expect(domain).toMatchObject({
    ...{ name: 'news.example.com', state: DomainState.PENDING, dkimAlgorithms: ['rsa', 'ed25519'] },
  });
  const purposes = ['OWNERSHIP', 'DKIM', 'DKIM', 'RETURN_PATH', 'SPF', 'DMARC', 'TRACKING'];
  expect(statesOf(domain)).toEqual(purposes.map((purpose) => `${purpose} UNCHECKED`));
  expect(domain?.checkedAt).toBeUndefined();
  expect(domain?.keys.map(({ state }) => state)).toEqual([
    DomainKeyState.WAITING,
    DomainKeyState.WAITING,
  ]);
  const lines = domain?.zone.trimEnd().split('\n') ?? [];
  expect(lines[0]).toMatch(
    /^_postrider\.news\.example\.com\. IN TXT "postrider-domain=[0-9a-f]{40}"$/,
  );
  const rsa = lines.find((line) => line.includes('k=rsa')) ?? '';
  const strings = [...rsa.matchAll(/"([^"]*)"/g)].map(([, text = '']) => text);
  expect(strings.map(({ length }) => length <= 255)).toEqual([true, true]);
  const [record] = domain?.records.filter(({ value }) => value.includes('k=rsa')) ?? [];
  expect(strings.join('')).toBe(record?.value);
  expect(lines).toContain(`bounces.news.example.com. IN CNAME ${workspaceId}.bounces.example.net.`);
});

test('messages alone can open the private halves, which fit the records', async () => {
  const { domain } = await create('keys.example.com', { dkimAlgorithms: ['rsa', 'ed25519'] });
  const rows = await query<{ selector: string; algorithm: string; sealed_private_key: string }>(
    given.context.store.fork(),
    'select * from dkim_keys where workspace_id = $1 and domain = $2',
    [workspaceId, 'keys.example.com'],
  );
  expect(rows).toHaveLength(2);
  for (const { selector, algorithm, sealed_private_key } of rows) {
    const place = signingKeyPlace(workspaceId, 'keys.example.com', selector);
    const opened = keyringOf('messages').letters.open(sealed_private_key, place);
    expect(() => keyringOf('workspaces').letters.open(sealed_private_key, place)).toThrow();
    const key = { key: Buffer.from(opened, 'base64'), format: 'der', type: 'pkcs8' } as const;
    const digest = algorithm === 'rsa' ? 'sha256' : null;
    const signature = sign(digest, Buffer.from('a mail'), key);
    const { value = '' } = domain?.records.find(({ host }) => host.startsWith(selector)) ?? {};
    const bytes = Buffer.from(value.split('p=')[1] ?? '', 'base64');
    const publicKey =
      algorithm === 'rsa'
        ? createPublicKey({ key: bytes, format: 'der', type: 'spki' })
        : createPublicKey({
            key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') },
            format: 'jwk',
          });
    expect(verify(digest, Buffer.from('a mail'), publicKey, signature)).toBe(true);
    const { entries } = await given.audit(root).listAuditLog({ workspaceId });
    expect(inspect(entries, { depth: null })).not.toContain(sealed_private_key);
  }
});

test.each([
  ['', 'name is not a domain, such as news.example.com'],
  ['example', 'name is not a domain, such as news.example.com'],
  ['192.0.2.1', 'name is not a domain, such as news.example.com'],
  ['[::1]', 'name is not a domain, such as news.example.com'],
  ['a b.example', 'name is not a domain, such as news.example.com'],
  ['x.example. IN TXT "', 'name is not a domain, such as news.example.com'],
  ['a\n$INCLUDE /etc/passwd.example', 'name is not a domain, such as news.example.com'],
  ['<script>.example', 'name is not a domain, such as news.example.com'],
  ['_dmarc.example.com', 'name is not a domain, such as news.example.com'],
  ['co.uk', 'name is a public suffix, below which others have their domains'],
  ['github.io', 'name is a public suffix, below which others have their domains'],
  [`${'a.'.repeat(110)}com`, 'name must have at most 220 characters'],
])('create refuses the name %j', async (name, text) => {
  await expect(create(name)).rejects.toMatchObject({ code: Code.InvalidArgument });
  if (name !== '') await expect(create(name)).rejects.toMatchObject({ rawMessage: text });
});

test('an international name is stored in ASCII, and found by both', async () => {
  const { domain } = await create('Bücher.example');
  expect(domain?.name).toBe('xn--bcher-kva.example');
  const got = await given.domains(root).getDomain({ workspaceId, name: 'bücher.example' });
  expect(got.domain?.name).toBe('xn--bcher-kva.example');
});

test.each([
  [{ dkimAlgorithms: ['dsa'] }, 'an algorithm is one of rsa, ed25519'],
  [{ returnPathHost: 'bounces.example.org' }, 'return_path_host is not a host below hosts.example'],
  [{ trackingHost: 'hosts.example' }, 'tracking_host is not a host below hosts.example'],
  [{ trackingHost: 'a"b.hosts.example' }, 'tracking_host is not a host below hosts.example'],
  [
    { returnPathHost: 'a.hosts.example', trackingHost: 'a.hosts.example' },
    'tracking_host and return_path_host must differ',
  ],
])('create refuses %j', async (over, rawMessage) => {
  const refused = { code: Code.InvalidArgument, rawMessage };
  await expect(create('hosts.example', over)).rejects.toMatchObject(refused);
});

test('create refuses a domain that the workspace has', async () => {
  await create('twice.example');
  await expect(create('TWICE.example')).rejects.toMatchObject({ code: Code.AlreadyExists });
});

test('create refuses more than 100 domains of a workspace', async () => {
  workspaceId = await givenWorkspace(given, root);
  for (let number = 0; number < 100; number += 1) await create(`d${number}.example`);
  await expect(create('one-more.example')).rejects.toMatchObject({
    ...{ code: Code.FailedPrecondition, rawMessage: 'a workspace has at most 100 domains' },
  });
  const { domains } = await given.domains(root).listDomains({ workspaceId });
  expect(domains).toHaveLength(100);
});

test('a workspace that has keys made in a loop is refused after 60 in a minute', async () => {
  workspaceId = await givenWorkspace(given, root);
  const made: PromiseSettledResult<unknown>[] = [];
  // A busy machine takes fewer calls of a workspace at once.
  while (made.length < 61) {
    const calls = Array.from({ length: Math.min(10, 61 - made.length) }, (_, at) =>
      create(`k${made.length + at}.example`, { dkimAlgorithms: ['ed25519'] }),
    );
    made.push(...(await Promise.allSettled(calls)));
  }
  const refused = made.filter(({ status }) => status === 'rejected');
  expect(refused).toMatchObject([{ reason: { code: Code.ResourceExhausted } }]);
});
