import { Code } from '@connectrpc/connect';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Domain, DomainKeyState } from '#gen/postrider/workspaces/v1/domains_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import type { Zone } from '../../../test/dns-server.ts';
import { checkDomains } from '../tasks/check-domains.ts';
import { givenRoot } from '../test/given.ts';
import { publish, useServiceWithDns, wordOf } from '../test/given-domain.ts';
import { givenWorkspace } from '../test/given-key.ts';

const given = useServiceWithDns(2);
const log = { warn: () => {} } as never;
let root: Claims;
let workspaceId: string;
let name: string;
beforeAll(async () => {
  root = await givenRoot(given);
  // The clock of these tests runs for days.
  await query(given.context.store.fork(), `update sessions set expires_at = '2099-01-01'`, []);
});
beforeEach(async () => {
  for (const zone of given.zones) zone.clear();
  given.context.seenForMs = 60 * 60_000;
  workspaceId = await givenWorkspace(given, root);
  name = `${workspaceId}.example.com`;
});

const day = 24 * 60;

/** Time passes, and a round is due. */
async function check(minutes = 1): Promise<void> {
  given.clock.now = new Date(given.clock.now.getTime() + minutes * 60_000);
  const due = 'update sending_domains set next_check_at = $2 where workspace_id = $1';
  await query(given.context.store.fork(), due, [workspaceId, given.clock.now]);
  await checkDomains(given.context, { log })({ workspaceId });
}

const domains = () => given.domains(root);
const read = async () => (await domains().getDomain({ workspaceId, name })).domain;
const rotate = async () => (await domains().rotateDomainKey({ workspaceId, name })).domain;
const statesOfKeys = (domain: Domain | undefined) =>
  domain?.keys.map(({ state }) => wordOf(DomainKeyState, state));
const signing = async () => {
  const [own] = (await given.directory.listSendingDomains({ workspaceId })).domains;
  return (own?.signingKeys ?? []).map(({ selector }) => selector);
};
const hostOf = (selector: string) => `${selector}._domainkey.${name}`;
const put = (selector: string, zone: Zone, server = given.zones) => {
  for (const each of server) each.set(hostOf(selector), zone);
};
const selectorIn = (domain: Domain | undefined, state: keyof typeof DomainKeyState) =>
  domain?.keys.find((key) => key.state === DomainKeyState[state])?.selector ?? '';
const valueOfKey = (domain: Domain | undefined, selector: string) =>
  domain?.records.find(({ host }) => host === hostOf(selector))?.value ?? '';

/** A domain whose keys sign. */
async function givenSigning(dkimAlgorithms = ['ed25519']): Promise<Domain | undefined> {
  const { domain } = await domains().createDomain({ workspaceId, name, dkimAlgorithms });
  publish(given, domain?.records ?? []);
  await check();
  await check(61);
  expect(await signing()).toHaveLength(dkimAlgorithms.length);
  return read();
}

test('a new key signs once all DNS servers have shown it for an hour, and the old one until then', async () => {
  const old = selectorIn(await givenSigning(), 'SIGNING');
  const rotated = await rotate();
  const next = selectorIn(rotated, 'WAITING');
  expect(statesOfKeys(rotated)).toEqual(['SIGNING', 'WAITING']);
  const txt = [valueOfKey(rotated, next)];
  put(next, { txt }, given.zones.slice(0, 1));
  await check(day);
  // One server lags behind.
  expect([await signing(), statesOfKeys(await read())]).toEqual([[old], ['SIGNING', 'WAITING']]);
  put(next, { txt });
  await check();
  expect(statesOfKeys(await read())).toEqual(['SIGNING', 'PUBLISHED']);
  await check(59);
  expect(await signing()).toEqual([old]);
  await check(1);
  expect([await signing(), statesOfKeys(await read())]).toEqual([[next], ['SIGNING', 'RETIRED']]);
});

test.each<[string, Zone, number]>([
  ['is gone at one server', 'absent', 1],
  ['cannot be asked for at one server', 'broken', 1],
  ['is another one at both', { txt: ['v=DKIM1; k=ed25519; p=x'] }, 2],
])('a key that %s at a check in between begins anew', async (_, zone, servers) => {
  const old = selectorIn(await givenSigning(), 'SIGNING');
  const rotated = await rotate();
  const next = selectorIn(rotated, 'WAITING');
  const txt = [valueOfKey(rotated, next)];
  put(next, { txt });
  await check();
  await check(30);
  put(next, zone, given.zones.slice(0, servers));
  await check(15);
  expect(statesOfKeys(await read())).toEqual(['SIGNING', 'WAITING']);
  put(next, { txt });
  await check(15);
  await check(59);
  expect(await signing()).toEqual([old]);
  await check(1);
  expect(await signing()).toEqual([next]);
});

test('a check comes while a key is seen, at the latest when it may sign', async () => {
  await givenSigning();
  const rotated = await rotate();
  publish(given, rotated?.records ?? []);
  await check();
  const next = selectorIn(rotated, 'WAITING');
  for (let checks = 0; (await signing())[0] !== next; checks += 1) {
    const { nextCheckAt } = (await read()) ?? {};
    const inMinutes = (Number(nextCheckAt?.seconds) * 1_000 - given.clock.now.getTime()) / 60_000;
    expect(inMinutes).toBeLessThanOrEqual(15);
    expect(checks).toBeLessThan(10);
    await check(inMinutes);
  }
});

test('a retired key keeps its record for 7 days, is revoked without its private half, and goes after 30 more', async () => {
  const old = selectorIn(await givenSigning(), 'SIGNING');
  publish(given, (await rotate())?.records ?? []);
  await check();
  await check(61);
  const sealed = async () =>
    (
      await query<{ sealed_private_key: string | null }>(
        given.context.store.fork(),
        'select sealed_private_key from dkim_keys where workspace_id = $1 and selector = $2',
        [workspaceId, old],
      )
    ).map(({ sealed_private_key }) => sealed_private_key !== null);
  await check(7 * day - 2);
  expect([statesOfKeys(await read()), await sealed()]).toEqual([['SIGNING', 'RETIRED'], [true]]);
  await check(2);
  const revoked = await read();
  expect([statesOfKeys(revoked), await sealed()]).toEqual([['SIGNING', 'REVOKED'], [false]]);
  expect(valueOfKey(revoked, old)).toBe('v=DKIM1; k=ed25519; p=');
  expect(revoked?.zone).toContain(`; advised: ${hostOf(old)}. IN TXT "v=DKIM1; k=ed25519; p="`);
  await check(30 * day);
  expect([statesOfKeys(await read()), await sealed()]).toEqual([['SIGNING'], []]);
});

test('a key that DNS has lost does not sign while another of the domain can', async () => {
  const domain = await givenSigning(['rsa', 'ed25519']);
  const [rsa = '', ed25519 = ''] = ['rsa', 'ed25519'].map(
    (algorithm) => domain?.keys.find((key) => key.algorithm === algorithm)?.selector,
  );
  put(rsa, 'absent');
  await check();
  expect(await signing()).toEqual([ed25519]);
  put(ed25519, 'absent');
  await check();
  // None can: a mail of the domain is never unsigned.
  expect((await signing()).toSorted()).toEqual([rsa, ed25519].toSorted());
});

test('the key of before signs again where DNS has lost the new one', async () => {
  const old = selectorIn(await givenSigning(), 'SIGNING');
  publish(given, (await rotate())?.records ?? []);
  await check();
  await check(61);
  const [next = ''] = await signing();
  expect(next).not.toBe(old);
  put(next, 'absent');
  await check();
  expect(await signing()).toEqual([old]);
});

test('rotate refuses a domain without algorithms, one with a key that does not sign yet, and more than 12 keys', async () => {
  const refused = { code: Code.FailedPrecondition };
  await domains().createDomain({ workspaceId, name });
  await expect(rotate()).rejects.toMatchObject(refused);
  await domains().deleteDomain({ workspaceId, name });
  given.context.seenForMs = 0;
  await givenSigning(['rsa', 'ed25519']);
  for (let count = 0; count < 5; count += 1) {
    publish(given, (await rotate())?.records ?? []);
    await expect(rotate()).rejects.toMatchObject({
      ...refused,
      rawMessage: expect.stringMatching(/^the key pr[0-9a-f]{8} does not sign yet$/),
    });
    await check();
  }
  await expect(rotate()).rejects.toMatchObject({
    ...refused,
    rawMessage: 'a domain has at most 12 keys; those of before go by themselves',
  });
});

test('rotate in a loop makes one key', async () => {
  await givenSigning();
  const calls = await Promise.allSettled(Array.from({ length: 40 }, () => rotate()));
  expect(calls.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(statesOfKeys(await read())).toEqual(['SIGNING', 'WAITING']);
});

test('update makes keys of new algorithms, and those that are left out sign until another does', async () => {
  const rsa = selectorIn(await givenSigning(['rsa']), 'SIGNING');
  const update = async (dkimAlgorithms: string[]) =>
    (await domains().updateDomain({ workspaceId, name, dkimAlgorithms })).domain;
  const updated = await update(['ed25519']);
  expect([await signing(), statesOfKeys(updated)]).toEqual([[rsa], ['SIGNING', 'WAITING']]);
  publish(given, updated?.records ?? []);
  await check();
  await check(61);
  expect(statesOfKeys(await read())).toEqual(['SIGNING', 'RETIRED']);
  expect(await signing()).not.toContain(rsa);
  expect(statesOfKeys(await update([]))).toEqual(['RETIRED', 'RETIRED']);
  expect(await signing()).toEqual([]);
});

test('update deletes keys of algorithms that are left out before they sign', async () => {
  await domains().createDomain({ workspaceId, name, dkimAlgorithms: ['ed25519'] });
  for (let count = 0; count < 14; count += 1) {
    const dkimAlgorithms = count % 2 === 0 ? [] : ['ed25519'];
    const { domain } = await domains().updateDomain({ workspaceId, name, dkimAlgorithms });
    expect(statesOfKeys(domain)).toEqual(dkimAlgorithms.map(() => 'WAITING'));
  }
});

/** The same numbers at each run. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

test('no mail is unsigned once one was signed, or signed by a key that is not shown while another is, with random answers of DNS servers', async () => {
  const random = randomOf(7);
  await givenSigning(['rsa', 'ed25519']);
  const shownAt = ({ zones }: { zones: Map<string, Zone>[] }, selector: string, value: string) =>
    zones.every((zone) => {
      const found = zone.get(hostOf(selector));
      return typeof found === 'object' && found.txt?.[0] === value;
    });
  for (let step = 0; step < 150; step += 1) {
    if (random() < 0.15) await rotate().catch(() => {});
    const before = await read();
    for (const { selector } of before?.keys ?? []) {
      const txt = [valueOfKey(before, selector)];
      for (const zone of given.zones) {
        const fate = random();
        if (fate < 0.05) zone.set(hostOf(selector), 'broken');
        else if (fate < 0.1) zone.set(hostOf(selector), 'absent');
        else if (fate < 0.8) zone.set(hostOf(selector), { txt });
      }
    }
    await check(Math.ceil(random() * 90));
    const domain = await read();
    const used = await signing();
    expect(used.length).toBeGreaterThan(0);
    const isBroken = (selector: string) =>
      given.zones.some((zone) => zone.get(hostOf(selector)) === 'broken');
    const lost = used.filter(
      (selector) => !isBroken(selector) && !shownAt(given, selector, valueOfKey(domain, selector)),
    );
    const others = domain?.keys.filter(
      ({ selector, state }) =>
        state === DomainKeyState.SIGNING && shownAt(given, selector, valueOfKey(domain, selector)),
    );
    if (lost.length > 0) expect(others).toEqual([]);
  }
}, 120_000);
