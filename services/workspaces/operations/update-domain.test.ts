import { Code } from '@connectrpc/connect';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Claims } from '#lib/keys/keyring.ts';
import { givenRoot } from '../test/given.ts';
import { publish, recordOf, statesOf, useServiceWithDns } from '../test/given-domain.ts';
import { givenKey, givenWorkspace } from '../test/given-key.ts';

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
});

const domains = () => given.domains(root);

test('update replaces the hosts, and forgets what was found of those that changed', async () => {
  const host = `bounces.${name}`;
  const { domain } = await domains().createDomain({ workspaceId, name, returnPathHost: host });
  publish(given, domain?.records ?? []);
  await domains().verifyDomain({ workspaceId, name });
  const kept = await domains().updateDomain({ workspaceId, name, returnPathHost: host });
  expect(statesOf(kept.domain).slice(0, 2)).toEqual(['OWNERSHIP OK', 'RETURN_PATH OK']);
  const changed = await domains().updateDomain({ workspaceId, name, returnPathHost: `b.${name}` });
  expect(statesOf(changed.domain).slice(0, 2)).toEqual(['OWNERSHIP OK', 'RETURN_PATH UNCHECKED']);
  expect(recordOf(changed.domain, 'RETURN_PATH').host).toBe(`b.${name}`);
  const { domains: sent } = await given.directory.listSendingDomains({ workspaceId });
  expect(sent).toMatchObject([{ name, returnPathHost: '' }]);
  const without = await domains().updateDomain({ workspaceId, name });
  expect(statesOf(without.domain)).toEqual(['OWNERSHIP OK', 'DMARC OK']);
});

test('update refuses what create refuses', async () => {
  await domains().createDomain({ workspaceId, name });
  for (const over of [{ dkimAlgorithms: ['dsa'] }, { trackingHost: 'links.example.org' }]) {
    const call = domains().updateDomain({ workspaceId, name, ...over });
    await expect(call).rejects.toMatchObject({ code: Code.InvalidArgument });
  }
});

test('changes of a domain are in the audit log, with the selectors of its keys', async () => {
  const written = { workspaceId, name: `${name.toUpperCase()}.` };
  await domains().createDomain({ ...written, dkimAlgorithms: ['ed25519'] });
  await domains().updateDomain({ ...written, trackingHost: `links.${name}` });
  await domains().deleteDomain({ workspaceId, name });
  const { entries } = await given.audit(root).listAuditLog({ workspaceId });
  const own = entries.filter(({ action }) => action.startsWith('domains.'));
  expect(own.map(({ action, targetId }) => [action, targetId])).toEqual([
    ['domains.delete', name],
    ['domains.update', name],
    ['domains.create', name],
  ]);
  expect(own[2]?.after).toMatchObject({ keys: [expect.stringMatching(/^pr[0-9a-f]{8} ed25519$/)] });
  expect(own[1]?.after).toEqual({ dkim_algorithms: [], tracking_host: `links.${name}`, keys: [] });
});

test('a key with the read permission of the workspace reads domains and changes none', async () => {
  await domains().createDomain({ workspaceId, name });
  const permissions = { workspace: { read: true, write: false } };
  const { claims } = await givenKey(given, root, { workspaceId, permissions });
  const own = given.domains(claims);
  expect((await own.listDomains({ workspaceId })).domains).toHaveLength(1);
  const refused = { code: Code.PermissionDenied };
  await expect(own.verifyDomain({ workspaceId, name })).rejects.toMatchObject(refused);
  await expect(own.deleteDomain({ workspaceId, name })).rejects.toMatchObject(refused);
  await expect(own.createDomain({ workspaceId, name: 'a.example' })).rejects.toMatchObject(refused);
});
