import { Code, createClient } from '@connectrpc/connect';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { DomainKeyState, DomainState } from '#gen/postrider/workspaces/v1/domains_pb.ts';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import { givenRoot } from '../test/given.ts';
import { publish, recordOf, statesOf, useServiceWithDns, wordOf } from '../test/given-domain.ts';
import { givenWorkspace } from '../test/given-key.ts';

const given = useServiceWithDns();
let root: Claims;
let workspaceId: string;
let name: string;
beforeAll(async () => {
  root = await givenRoot(given);
});
beforeEach(async () => {
  workspaceId = await givenWorkspace(given, root);
  name = `${workspaceId}.example.com`;
  given.zones[0]?.clear();
});

function pass(minutes: number): void {
  given.clock.now = new Date(given.clock.now.getTime() + minutes * 60_000);
}

const create = async (over: object = {}, of = workspaceId) => {
  const { domain } = await given.domains(root).createDomain({ workspaceId: of, name, ...over });
  if (!domain) throw new Error('no domain');
  return domain;
};
const verify = async (of = workspaceId) => {
  pass(1);
  return (await given.domains(root).verifyDomain({ workspaceId: of, name })).domain;
};
const sending = async (of = workspaceId) => {
  const { domains } = await given.directory.listSendingDomains({ workspaceId: of });
  return domains.find((each) => each.name === name);
};

test('a domain is sent from once its ownership record is found, and signed by a key that is seen for an hour', async () => {
  const domain = await create({ dkimAlgorithms: ['rsa', 'ed25519'] });
  expect(statesOf(await verify())).toEqual([
    ...['OWNERSHIP MISSING', 'DKIM MISSING', 'DKIM MISSING', 'DMARC MISSING'],
  ]);
  expect(await sending()).toBeUndefined();
  publish(given, domain.records);
  const found = await verify();
  expect(statesOf(found)).toEqual(['OWNERSHIP OK', 'DKIM OK', 'DKIM OK', 'DMARC OK']);
  expect(found?.state).toBe(DomainState.OK);
  expect(found?.keys.map(({ state }) => wordOf(DomainKeyState, state))).toEqual([
    ...['PUBLISHED', 'PUBLISHED'],
  ]);
  expect(await sending()).toMatchObject({ signingKeys: [], isHeld: false });
  pass(58);
  await verify();
  expect((await sending())?.signingKeys).toEqual([]);
  await verify();
  const { signingKeys = [] } = (await sending()) ?? {};
  expect(signingKeys.map(({ algorithm }) => algorithm).toSorted()).toEqual(['ed25519', 'rsa']);
  const ofOthers = given.directory.listSendingDomains({ workspaceId: 'nobody' });
  await expect(ofOthers).rejects.toMatchObject({ code: Code.NotFound });
});

test('a domain belongs to the first workspace that proves it, until that deletes it', async () => {
  const other = await givenWorkspace(given, root);
  const [own, others] = [await create(), await create({}, other)];
  publish(given, [recordOf(own, 'OWNERSHIP')]);
  await verify();
  publish(given, [recordOf(others, 'OWNERSHIP')]);
  const lost = await verify(other);
  expect(recordOf(lost, 'OWNERSHIP').explanation).toMatch(/^Another workspace .* has the domain/);
  expect(statesOf(lost)[0]).toBe('OWNERSHIP CONFLICT');
  expect([await sending(), await sending(other)]).toMatchObject([{ name }, undefined]);
  await given.domains(root).deleteDomain({ workspaceId, name });
  expect(statesOf(await verify(other))[0]).toBe('OWNERSHIP OK');
  expect([await sending(), await sending(other)]).toMatchObject([undefined, { name }]);
});

test('a domain of a workspace that is deleted is free at once, and its keys are gone', async () => {
  const other = await givenWorkspace(given, root);
  const own = await create({ dkimAlgorithms: ['ed25519'] });
  publish(given, own.records);
  await verify();
  const others = await create({}, other);
  publish(given, [recordOf(others, 'OWNERSHIP')]);
  expect(statesOf(await verify(other))[0]).toBe('OWNERSHIP CONFLICT');
  await given.deletions(root).deleteWorkspace({ id: workspaceId });
  expect(statesOf(await verify(other))[0]).toBe('OWNERSHIP OK');
  const statement = 'select from dkim_keys where workspace_id = $1';
  expect(await query(given.context.store.fork(), statement, [workspaceId])).toEqual([]);
});

test('verify and get refuse a domain that the workspace does not have', async () => {
  const refused = { code: Code.NotFound, rawMessage: 'Domain not found' };
  const domains = given.domains(root);
  for (const call of [
    () => domains.verifyDomain({ workspaceId, name }),
    () => domains.getDomain({ workspaceId, name }),
    () => domains.updateDomain({ workspaceId, name }),
    () => domains.rotateDomainKey({ workspaceId, name }),
    () => domains.deleteDomain({ workspaceId, name: 'not a name' }),
  ]) {
    await expect(call()).rejects.toMatchObject(refused);
  }
});

const pageOf = async () => {
  const { setupUrl = '' } = await given.domains(root).getDomain({ workspaceId, name });
  expect(setupUrl).toMatch(/^http:\/\/127\.0\.0\.1:4400\/domains\/[A-Za-z0-9_-]+$/);
  return setupUrl.split('/').at(-1) ?? '';
};

test('the link of a domain shows it and has it checked, for 30 days', async () => {
  publish(given, (await create()).records);
  const token = await pageOf();
  const page = await given.domainPages.getDomainPage({ token });
  expect(page).toMatchObject({ workspaceName: 'Acme', domain: { name } });
  await given.domainPages.verifyDomainByPage({ token });
  const { domain } = await given.domainPages.getDomainPage({ token });
  expect(domain?.state).toBe(DomainState.OK);
  const start = given.clock.now;
  pass(30 * 24 * 60);
  await given.domainPages.getDomainPage({ token });
  pass(24 * 60);
  const expired = { code: Code.InvalidArgument };
  await expect(given.domainPages.getDomainPage({ token })).rejects.toMatchObject(expired);
  given.clock.now = start;
  await given.domains(root).deleteDomain({ workspaceId, name });
  const gone = { code: Code.NotFound };
  await expect(given.domainPages.getDomainPage({ token })).rejects.toMatchObject(gone);
});

test('a link with any character changed is refused', async () => {
  await create();
  const token = await pageOf();
  const changed = [...token].map((char, at) => {
    const other = char === 'A' ? 'B' : 'A';
    return token.slice(0, at) + other + token.slice(at + 1);
  });
  const refused = { code: Code.InvalidArgument };
  for (const wrong of [...changed, `${token}A`, token.slice(0, -1), 'x']) {
    const call = given.domainPages.verifyDomainByPage({ token: wrong });
    await expect(call).rejects.toMatchObject(refused);
  }
});

test('verify in a loop is refused after ten times in a minute, for all domains of a workspace', async () => {
  await create();
  const calls = Array.from({ length: 30 }, () =>
    given.domains(root).verifyDomain({ workspaceId, name }),
  );
  const refused = (await Promise.allSettled(calls)).filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(20);
  expect(refused[0]).toMatchObject({ reason: { code: Code.ResourceExhausted } });
  const byPage = given.domainPages.verifyDomainByPage({ token: await pageOf() });
  await expect(byPage).rejects.toMatchObject({ code: Code.ResourceExhausted });
  await verify();
});

test('only services read what mails are signed with', async () => {
  const client = createClient(WorkspaceDirectoryService, given.transport(root));
  const refused = { code: Code.PermissionDenied };
  await expect(client.listSendingDomains({ workspaceId })).rejects.toMatchObject(refused);
});
