import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, test } from '@jest/globals';
import type { Domain } from '#gen/postrider/workspaces/v1/domains_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { givenRoot } from '../../services/workspaces/test/given.ts';
import {
  publish,
  recordOf,
  statesOf,
  useServiceWithDns,
} from '../../services/workspaces/test/given-domain.ts';
import { givenWorkspace } from '../../services/workspaces/test/given-key.ts';
import { dkimZone } from './dkim-zone.ts';

const given = useServiceWithDns();
const zone = 'dkim.example.net';
let root: Claims;
let workspaceId: string;
beforeAll(async () => {
  root = await givenRoot(given);
  workspaceId = await givenWorkspace(given, root);
  given.context.installation.dkimZone = zone;
});

async function printed(): Promise<string[]> {
  const out = new PassThrough();
  const all = text(out);
  await dkimZone({ WORKSPACES_DATABASE_URL: given.context.store.url, DKIM_ZONE: zone }, out);
  out.end();
  return (await all).split('\n').filter((line) => line !== '');
}

/** Has the DNS server answer for the operator's zone. */
function serve(lines: readonly string[]): void {
  for (const line of lines) {
    const [host = ''] = line.split('. IN TXT ');
    const strings = [...line.matchAll(/"([^"]*)"/g)].map(([, string = '']) => string);
    given.zones[0]?.set(host, { txt: [strings.join('')] });
  }
}

const verify = async (name: string): Promise<Domain | undefined> =>
  (await given.domains(root).verifyDomain({ workspaceId, name })).domain;

test('the owner of a domain sets a CNAME once, and the operator publishes the keys that dkim-zone prints', async () => {
  const name = 'news.example.com';
  const request = { workspaceId, name, dkimAlgorithms: ['rsa', 'ed25519'] };
  const { domain } = await given.domains(root).createDomain(request);
  const { type, host, value } = recordOf(domain, 'DKIM');
  const [selector = ''] = host.split('.');
  expect([type, value]).toEqual([
    'CNAME',
    expect.stringMatching(`^${selector}\\.[0-9a-f]{16}\\.${zone}$`),
  ]);
  expect(await printed()).toEqual([]);
  publish(given, domain?.records ?? []);
  const found = await verify(name);
  expect(statesOf(found)).toEqual(['OWNERSHIP OK', 'DKIM MISSING', 'DKIM MISSING', 'DMARC OK']);
  expect(recordOf(found, 'DKIM').explanation).toMatch(/^The CNAME is right, but the zone/);
  const lines = await printed();
  expect(lines).toHaveLength(2);
  serve(lines);
  expect(statesOf(await verify(name))).toEqual(['OWNERSHIP OK', 'DKIM OK', 'DKIM OK', 'DMARC OK']);
});

test('a CNAME that leads elsewhere is wrong, and the key itself in its place is right', async () => {
  const name = 'other.example.com';
  const request = { workspaceId, name, dkimAlgorithms: ['ed25519'] };
  const { domain } = await given.domains(root).createDomain(request);
  publish(given, domain?.records ?? []);
  const { host } = recordOf(domain, 'DKIM');
  await verify(name);
  given.zones[0]?.set(host, { cname: 'elsewhere.example' });
  expect(statesOf(await verify(name))[1]).toBe('DKIM WRONG');
  const [line = ''] = (await printed()).filter((each) => each.startsWith(host.split('.')[0] ?? ''));
  given.zones[0]?.set(host, { txt: [/"([^"]*)"/.exec(line)?.[1] ?? ''] });
  expect(statesOf(await verify(name))[1]).toBe('DKIM OK');
});

test('keys of domains that nobody has proven are not printed', async () => {
  const request = { workspaceId, name: 'unproven.example', dkimAlgorithms: ['ed25519'] };
  const { domain } = await given.domains(root).createDomain(request);
  const [selector = ''] = recordOf(domain, 'DKIM').host.split('.');
  expect((await printed()).join()).not.toContain(selector);
});

test('dkim-zone refuses to run without DKIM_ZONE', async () => {
  const env = { WORKSPACES_DATABASE_URL: given.context.store.url };
  await expect(dkimZone(env)).rejects.toThrow('DKIM_ZONE is not set');
});
