import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type Domain,
  type DomainRecordPurpose,
  DomainRecordState,
  DomainState,
} from '#gen/postrider/workspaces/v1/domains_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import type { Zone } from '../../../test/dns-server.ts';
import { givenRoot } from '../test/given.ts';
import { publish, recordOf, useServiceWithDns, wordOf } from '../test/given-domain.ts';
import { givenWorkspace } from '../test/given-key.ts';

const given = useServiceWithDns(2);
const [first, second] = [() => given.zones[0], () => given.zones[1]];
let root: Claims;
let workspaceId: string;
let name: string;
let domain: Domain;
beforeAll(async () => {
  root = await givenRoot(given);
});
beforeEach(async () => {
  for (const zone of given.zones) zone.clear();
  workspaceId = await givenWorkspace(given, root);
  name = `${workspaceId}.example.com`;
  const made = await given.domains(root).createDomain({
    ...{ workspaceId, name, dkimAlgorithms: ['rsa'] },
    returnPathHost: `bounces.${name}`,
  });
  if (!made.domain) throw new Error('no domain');
  domain = made.domain;
});

function pass(minutes: number): void {
  given.clock.now = new Date(given.clock.now.getTime() + minutes * 60_000);
}

type Purpose = keyof typeof DomainRecordPurpose;
const hostOf = (purpose: Purpose) => recordOf(domain, purpose).host;
const wantedOf = (purpose: Purpose) => recordOf(domain, purpose).value;
const bounceHost = () => recordOf(domain, 'RETURN_PATH').value;
const spf = 'v=spf1 ip4:192.0.2.1 -all';

function put(host: string, zone: Zone, zones = [first(), second()]): void {
  for (const each of zones) each?.set(host, zone);
}

/** All records as they are wanted, with SPF at the installation's host. */
function publishAll(): void {
  publish(given, domain.records);
  put(bounceHost(), { txt: [spf] });
}

async function verify(): Promise<Domain | undefined> {
  pass(1);
  return (await given.domains(root).verifyDomain({ workspaceId, name })).domain;
}

async function look(purpose: Purpose) {
  const record = recordOf(await verify(), purpose);
  const [state, known] = [record.state, record.knownState].map((each) =>
    wordOf(DomainRecordState, each),
  );
  return { state, known, found: record.found, explanation: record.explanation };
}

test('all records are ok as the zone of the answer has them, a key of 2,048 bits in two strings among them', async () => {
  publishAll();
  const found = await verify();
  expect(found?.records.map(({ state }) => wordOf(DomainRecordState, state))).toEqual(
    Array(5).fill('OK'),
  );
  expect(found?.state).toBe(DomainState.OK);
  expect(wantedOf('DKIM').length).toBeGreaterThan(255);
  expect(recordOf(found, 'SPF').found).toEqual([spf]);
});

type Case = [Purpose, string, string[] | { cname: string }, object];
const dkim = 'v=DKIM1; k=rsa; p=MIIB';

test.each<Case>([
  ['OWNERSHIP', 'no value', [], { state: 'MISSING', found: [] }],
  ['OWNERSHIP', 'texts of others', ['hello'], { state: 'MISSING', found: ['hello'] }],
  [
    'OWNERSHIP',
    'the value of another',
    ['postrider-domain=x'],
    { state: 'WRONG', found: ['postrider-domain=x'] },
  ],
  ['DKIM', 'no key', [], { state: 'MISSING', found: [] }],
  ['DKIM', 'another key', [dkim], { state: 'WRONG', found: [dkim] }],
  ['DKIM', 'a key that is revoked', ['v=DKIM1; p='], { state: 'WRONG', found: ['v=DKIM1; p='] }],
  [
    'DKIM',
    'two keys',
    [dkim, 'v=DKIM1; p=x'],
    { state: 'CONFLICT', explanation: expect.stringMatching(/^Several keys/) },
  ],
  [
    'DKIM',
    'a CNAME that leads to nothing',
    { cname: 'nothing.example.net' },
    { state: 'MISSING', found: ['nothing.example.net'] },
  ],
  ['RETURN_PATH', 'no CNAME', [], { state: 'MISSING', found: [] }],
  [
    'RETURN_PATH',
    'a CNAME to another host',
    { cname: 'other.example.net' },
    { state: 'WRONG', found: ['other.example.net'] },
  ],
  ['DMARC', 'no policy', [], { state: 'MISSING' }],
  [
    'DMARC',
    'two policies',
    ['v=DMARC1; p=none', 'v=DMARC1; p=reject'],
    { state: 'CONFLICT', explanation: expect.stringMatching(/^Two DMARC/) },
  ],
  [
    'DMARC',
    'no p',
    ['v=DMARC1; rua=mailto:a@example.com'],
    { state: 'WRONG', explanation: expect.stringMatching(/p=none/) },
  ],
  ['DMARC', 'a strict policy', ['v=DMARC1; p=reject; adkim=s; aspf=s'], { state: 'OK' }],
])('%s with %s', async (purpose, _, at, expected) => {
  publishAll();
  put(hostOf(purpose), Array.isArray(at) ? { txt: at } : at);
  expect(await look(purpose)).toMatchObject(expected);
});

test.each<Purpose>(['OWNERSHIP', 'DKIM', 'DMARC'])(
  '%s conflicts where a CNAME stands beside its text, and is ok where the CNAME leads to the text',
  async (purpose) => {
    publishAll();
    const txt = [wantedOf(purpose)];
    put(hostOf(purpose), { cname: 'elsewhere.example.net', txt });
    expect(await look(purpose)).toMatchObject({
      ...{ state: 'CONFLICT', found: ['elsewhere.example.net', ...txt] },
      explanation: expect.stringMatching(/^A CNAME stands beside other records/),
    });
    put(hostOf(purpose), { cname: 'elsewhere.example.net' });
    put('elsewhere.example.net', { txt });
    expect(await look(purpose)).toMatchObject({ state: 'OK' });
  },
);

test('a return path conflicts where texts stand beside its CNAME', async () => {
  publishAll();
  put(hostOf('RETURN_PATH'), { cname: bounceHost(), txt: ['v=spf1 -all'] });
  expect(await look('RETURN_PATH')).toMatchObject({ state: 'CONFLICT' });
});

test.each([
  ['no policy', [], 'MISSING'],
  ['one policy', ['hello', spf], 'OK'],
  ['two policies', [spf, 'v=spf1 -all'], 'CONFLICT'],
  ['a text that only begins like one', ['v=spf10 -all'], 'MISSING'],
])('SPF at the return path with %s', async (_, txt, state) => {
  publishAll();
  put(bounceHost(), { txt });
  expect(await look('SPF')).toMatchObject({ state });
  const { domain: shown } = await given.domains(root).getDomain({ workspaceId, name });
  expect(shown?.state).toBe(DomainState.OK);
});

test('DMARC of the organisational domain counts where the domain has none', async () => {
  publishAll();
  put(hostOf('DMARC'), 'absent');
  put('_dmarc.example.com', { txt: ['v=DMARC1; p=quarantine'] });
  expect(await look('DMARC')).toMatchObject({ state: 'OK', found: ['v=DMARC1; p=quarantine'] });
});

test('DMARC says what aligns where no key of ours signs', async () => {
  const domains = given.domains(root);
  await domains.updateDomain({ workspaceId, name, returnPathHost: `bounces.${name}` });
  publishAll();
  expect(await look('DMARC')).toMatchObject({ state: 'OK' });
  put(hostOf('DMARC'), { txt: ['v=DMARC1; p=reject; aspf=s'] });
  expect(await look('DMARC')).toMatchObject({
    ...{ state: 'WRONG', explanation: expect.stringMatching(/^Neither a key nor a return path/) },
  });
  await domains.updateDomain({ workspaceId, name });
  expect(await look('DMARC')).toMatchObject({
    ...{ state: 'OK', explanation: expect.stringContaining(`sign for ${name}`) },
  });
});

test('two ownership values conflict until one is deleted, and do not end a proof', async () => {
  const both = [wantedOf('OWNERSHIP'), 'postrider-domain=of-another'];
  publishAll();
  put(hostOf('OWNERSHIP'), { txt: both });
  expect(await look('OWNERSHIP')).toMatchObject({ state: 'CONFLICT', found: both });
  const sent = async () => (await given.directory.listSendingDomains({ workspaceId })).domains;
  expect(await sent()).toEqual([]);
  put(hostOf('OWNERSHIP'), { txt: both.slice(0, 1) });
  expect(await look('OWNERSHIP')).toMatchObject({ state: 'OK' });
  put(hostOf('OWNERSHIP'), { txt: both });
  expect(await look('OWNERSHIP')).toMatchObject({ state: 'CONFLICT' });
  expect(await sent()).toMatchObject([{ name, isHeld: false }]);
});

test.each<Zone>(['broken', 'refused', 'silent'])(
  'a DNS server that is %s makes nothing wrong: what was known stays beside it',
  async (zone) => {
    publishAll();
    await verify();
    for (const { host } of domain.records) put(host, zone);
    put(bounceHost(), zone);
    const found = await verify();
    for (const { state, knownState } of found?.records ?? []) {
      expect([state, knownState]).toEqual([DomainRecordState.UNREACHABLE, DomainRecordState.OK]);
    }
    expect([found?.state, found?.failingSince]).toEqual([DomainState.OK, undefined]);
    expect(recordOf(found, 'DKIM').explanation).toMatch(/^No DNS server answers/);
  },
);

test('a DNS server that fails alone hides nothing but keys, which all have to show', async () => {
  publishAll();
  for (const { host } of domain.records) put(host, 'broken', [second()]);
  put(bounceHost(), 'broken', [second()]);
  const states = (await verify())?.records.map(({ state }) => wordOf(DomainRecordState, state));
  expect(states).toEqual(['OK', 'UNREACHABLE', 'OK', 'OK', 'OK']);
});

test('a DNS server that lags behind counts: a record is there once all have it', async () => {
  publishAll();
  for (const { host } of domain.records) put(host, 'absent', [second()]);
  expect(await look('OWNERSHIP')).toMatchObject({ state: 'MISSING' });
  expect(await look('DKIM')).toMatchObject({ state: 'MISSING' });
  publishAll();
  expect(await look('OWNERSHIP')).toMatchObject({ state: 'OK' });
});

test('values are shown bounded, and can neither break a row nor a zone file', async () => {
  publishAll();
  const evil = 'postrider-domain=\0"\n. IN NS evil.example.<script>';
  put(hostOf('OWNERSHIP'), {
    txt: [
      evil,
      ...Array.from({ length: 40 }, (_, at) => `postrider-domain=${at}${'x'.repeat(900)}`),
    ],
  });
  const found = await verify();
  const { found: values } = recordOf(found, 'OWNERSHIP');
  expect(values).toHaveLength(5);
  expect(values[0]).toBe('postrider-domain=\u{fffd}"\u{fffd}. IN NS evil.example.<script>');
  expect(Math.max(...values.map(({ length }) => length))).toBe(512);
  expect(found?.zone).not.toContain('evil');
});
