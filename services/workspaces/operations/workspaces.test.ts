import { create, toJson } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import { BadRequestSchema } from '#gen/google/rpc/error_details_pb.ts';
import { ListIntegrationUsesResponseSchema } from '#gen/postrider/events/v1/events_pb.ts';
import { AuditEntrySchema } from '#gen/postrider/workspaces/v1/audit_pb.ts';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import { secretPlace } from '#lib/providers/kind.ts';
import { keyring, keyringOf, serviceClaims, userClaims } from '../../../test/setup/service.ts';
import { givenRoot, provider, useService } from '../test/given.ts';

const given = useService();
let root: Claims;
beforeAll(async () => {
  root = await givenRoot(given);
});

let count = 0;
async function givenWorkspace(): Promise<string> {
  count += 1;
  const id = `w${count}`;
  await given.workspaces(root).createWorkspace({ id, name: 'Acme' });
  return id;
}

async function givenIntegration(workspaceId: string): Promise<string> {
  const request = { workspaceId, name: 'smtp', type: 'email', provider };
  return (await given.workspaces(root).createIntegration(request)).integrationId;
}

async function givenKey(workspaceId: string, permissions = {}): Promise<Claims> {
  const key = { workspaceId, emailPrefix: `key${crypto.randomUUID().slice(0, 8)}`, permissions };
  const { token } = await given.workspaces(root).createAPIKey(key);
  const claims = await keyring.verifyToken(token);
  if (!claims) throw new Error('the key is not valid');
  return claims;
}

test('create fills in the defaults and makes the caller owner', async () => {
  const id = await givenWorkspace();
  const { workspace } = await given.workspaces(root).getWorkspace({ id });
  expect(workspace).toMatchObject({
    id,
    name: 'Acme',
    settings: {
      timezone: 'UTC',
      defaultLanguage: 'en',
      languages: ['en'],
      emailTrackingEnabled: true,
    },
    integrations: [],
  });
});

test('create refuses an id that is taken', async () => {
  const id = await givenWorkspace();
  await expect(given.workspaces(root).createWorkspace({ id, name: 'B' })).rejects.toMatchObject({
    code: Code.AlreadyExists,
    rawMessage: 'Workspace already exists',
  });
});

test.each([
  [{ id: '', name: 'a' }, 'id is required'],
  [{ id: 'a-b', name: 'a' }, 'id must be alphanumeric'],
  [{ id: 'a'.repeat(21), name: 'a' }, 'id length must be between 1 and 20'],
  [{ id: 'ok', name: '' }, 'name is required'],
  [{ id: 'ok', name: 'a'.repeat(33) }, 'name length must be between 1 and 32'],
  [{ id: 'ok', name: 'a', settings: { timezone: 'Mars/Base' } }, 'invalid timezone: Mars/Base'],
  [
    { id: 'ok', name: 'a', settings: { websiteUrl: 'javascript:1' } },
    'invalid website URL: it begins with https:// or http://',
  ],
  [
    { id: 'ok', name: 'a', settings: { messageContentDays: 366 } },
    'message content must be kept for 0 to 365 days',
  ],
  [
    { id: 'ok', name: 'a', settings: { messageContentDays: -1 } },
    'message content must be kept for 0 to 365 days',
  ],
  ...[0, 3_651].map((days): [object, string] => [
    { id: 'ok', name: 'a', settings: { timelineRetentionDays: days } },
    'timeline retention must be between 1 and 3650 days',
  ]),
  ...[-1, 89, 3_651].map((days): [object, string] => [
    { id: 'ok', name: 'a', settings: { messageRetentionDays: days } },
    'message retention must be 0, for good, or between 90 and 3650 days',
  ]),
  [
    {
      id: 'ok',
      name: 'a',
      settings: { customEndpointUrl: `https://${'a'.repeat(60)}.example/${'p'.repeat(900)}` },
    },
    'custom endpoint URL must have at most 900 characters',
  ],
  [
    {
      id: 'ok',
      name: 'a',
      settings: { customEndpointUrl: `https://mail.example/${'ü'.repeat(300)}` },
    },
    'custom endpoint URL must have at most 900 characters',
  ],
  ...['javascript', 'DATA', 'view-source:', 'x', '1a', 'a b', ''].map(
    (scheme): [object, string] => [
      { id: 'ok', name: 'a', settings: { linkSchemes: ['myapp', scheme] } },
      `invalid link scheme: ${scheme.toLowerCase().replace(':', '')}`,
    ],
  ),
  [
    {
      id: 'ok',
      name: 'a',
      settings: { linkSchemes: Array.from({ length: 21 }, (_, n) => `app${n}`) },
    },
    'at most 20 link schemes are allowed',
  ],
  [{ id: 'ok', name: 'a', settings: { languages: ['xx'] } }, 'invalid language code: xx'],
  [{ id: 'ok', name: 'a', settings: { languages: ['en', 'en'] } }, 'duplicate language code: en'],
])('create refuses %j', async (request, text) => {
  await expect(given.workspaces(root).createWorkspace(request)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: text,
  });
});

test('the base of links is stored in ASCII, and its longest leaves room for a header line', async () => {
  const id = await givenWorkspace();
  const stored = async (customEndpointUrl: string) => {
    const settings = { customEndpointUrl };
    const answer = await given.workspaces(root).updateWorkspace({ id, name: 'Acme', settings });
    return answer.workspace?.settings?.customEndpointUrl;
  };
  expect(await stored('https://bücher.example/')).toBe('https://xn--bcher-kva.example');
  const longest = `https://mail.example/${'p'.repeat(879)}`;
  expect(await stored(longest)).toBe(longest);
  const link = `${longest}/u/${'w'.repeat(20)}/${'t'.repeat(43)}`;
  expect(`List-Unsubscribe: <${link}>`.length).toBeLessThanOrEqual(998);
});

test('a base of links that is too long is a 400 that names its field', async () => {
  const id = await givenWorkspace();
  const settings = { customEndpointUrl: `https://mail.example/${'p'.repeat(880)}` };
  const refused = await given
    .workspaces(root)
    .updateWorkspace({ id, name: 'Acme', settings })
    .catch((error: unknown) => ConnectError.from(error));
  expect(refused).toBeInstanceOf(ConnectError);
  expect((refused as ConnectError).findDetails(BadRequestSchema)).toMatchObject([
    { fieldViolations: [{ field: 'settings.custom_endpoint_url' }] },
  ]);
});

test('schemes of links are kept in lower case and once, and null takes them away', async () => {
  const id = await givenWorkspace();
  const schemesAfter = async (settings: object) => {
    const answer = await given.workspaces(root).updateWorkspace({ id, name: 'Acme', settings });
    return answer.workspace?.settings?.linkSchemes;
  };
  expect(await schemesAfter({})).toEqual([]);
  expect(await schemesAfter({ linkSchemes: ['MyApp', 'webcal:', 'myapp'] })).toEqual([
    'myapp',
    'webcal',
  ]);
  expect(await schemesAfter({})).toEqual(['myapp', 'webcal']);
  expect(await schemesAfter({ nullFields: { paths: ['link_schemes'] } })).toEqual([]);
});

test('the public form asks for no proof of work unless the settings say so', async () => {
  const id = await givenWorkspace();
  const settingAfter = async (settings: object) => {
    const answer = await given.workspaces(root).updateWorkspace({ id, name: 'Acme', settings });
    return answer.workspace?.settings?.formProofOfWork;
  };
  expect(await settingAfter({})).toBe(false);
  expect(await settingAfter({ formProofOfWork: true })).toBe(true);
  expect(await settingAfter({})).toBe(true);
  expect(await settingAfter({ nullFields: { paths: ['form_proof_of_work'] } })).toBe(false);
});

test('messages are kept for good unless the settings say otherwise', async () => {
  const id = await givenWorkspace();
  const daysAfter = async (settings: object) => {
    const answer = await given.workspaces(root).updateWorkspace({ id, name: 'Acme', settings });
    return answer.workspace?.settings?.messageRetentionDays;
  };
  expect(await daysAfter({})).toBe(0);
  expect(await daysAfter({ messageRetentionDays: 90 })).toBe(90);
});

test('contents of messages are kept only if the settings say so', async () => {
  const id = await givenWorkspace();
  const keeping = await given
    .workspaces(root)
    .updateWorkspace({ id, name: 'A', settings: { messageContentDays: 30 } });
  expect(keeping.workspace?.settings?.messageContentDays).toBe(30);
  const { workspace } = await given
    .workspaces(root)
    .updateWorkspace({ id, name: 'A', settings: { messageContentDays: 0 } });
  expect(workspace?.settings?.messageContentDays).toBe(0);
});

test('timelines are kept for two years unless the settings say otherwise', async () => {
  const id = await givenWorkspace();
  const daysAfter = async (settings: object) => {
    const { workspace } = await given.workspaces(root).updateWorkspace({ id, name: 'A', settings });
    return workspace?.settings?.timelineRetentionDays;
  };
  expect(await daysAfter({})).toBe(730);
  expect(await daysAfter({ timelineRetentionDays: 3_650 })).toBe(3_650);
});

test('create is for root users', async () => {
  const key = await givenKey(await givenWorkspace());
  const refused = given.workspaces(key).createWorkspace({ id: 'mine', name: 'Mine' });
  await expect(refused).rejects.toMatchObject({ code: Code.PermissionDenied });
});

test('an unknown workspace and a foreign one get the same answer', async () => {
  const key = await givenKey(await givenWorkspace());
  const foreign = await givenWorkspace();
  const answers = await Promise.allSettled(
    [foreign, 'unknown'].map((id) => given.workspaces(key).getWorkspace({ id })),
  );
  const texts = answers.map((answer) =>
    answer.status === 'rejected' ? `${answer.reason}` : 'found',
  );
  expect(texts[0]).toContain('permission_denied');
  expect(texts[0]).toBe(texts[1]);
});

test('list returns all workspaces to root, and to a key its own', async () => {
  const id = await givenWorkspace();
  const key = await givenKey(id);
  const own = await given.workspaces(key).listWorkspaces({});
  expect(own.workspaces.map((workspace) => workspace.id)).toEqual([id]);
  const all = await given.workspaces(root).listWorkspaces({});
  expect(all.workspaces.length).toBeGreaterThan(1);
});

test('a key without a permission gets an error that names it', async () => {
  const id = await givenWorkspace();
  const key = await givenKey(id, { contacts: { read: true, write: true } });
  await expect(given.workspaces(key).getWorkspace({ id })).rejects.toMatchObject({
    code: Code.PermissionDenied,
    rawMessage: 'Insufficient permissions: read access to workspace required',
  });
});

test('a key is refused once its user is gone', async () => {
  const id = await givenWorkspace();
  const key = await givenKey(id);
  await given.workspaces(key).getWorkspace({ id });
  await query(given.context.store.fork(), 'delete from users where id = $1', [key.subject]);
  const { now } = Date;
  Date.now = () => now() + 1_001;
  try {
    const refused = given.workspaces(key).getWorkspace({ id });
    await expect(refused).rejects.toMatchObject({
      code: Code.Unauthenticated,
      rawMessage: 'Invalid token',
    });
  } finally {
    Date.now = now;
  }
});

test('a token of an unknown user is refused', async () => {
  const id = await givenWorkspace();
  const refused = given.workspaces(userClaims()).getWorkspace({ id });
  await expect(refused).rejects.toMatchObject({ code: Code.Unauthenticated });
});

test('update replaces name and settings, and refuses a provider that does not exist', async () => {
  const id = await givenWorkspace();
  const workspaces = given.workspaces(root);
  const integrationId = await givenIntegration(id);
  const settings = { timezone: 'Europe/Paris', marketingEmailProviderId: integrationId };
  await workspaces.updateWorkspace({ id, name: 'New', settings });
  const { workspace } = await workspaces.getWorkspace({ id });
  expect(workspace).toMatchObject({ name: 'New', settings });
  const wrong = { id, name: 'New', settings: { marketingEmailProviderId: 'nothing' } };
  await expect(workspaces.updateWorkspace(wrong)).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});

test('an integration shows its warm-up until an update leaves it out', async () => {
  const id = await givenWorkspace();
  const workspaces = given.workspaces(root);
  const warmUp = { startedOn: '2026-11-21', dailyLimits: [50, 100] };
  const created = await workspaces.createIntegration({
    workspaceId: id,
    name: 'smtp',
    type: 'email',
    provider: { ...provider, warmUp },
  });
  const { integrationId } = created;
  const directory = createClient(WorkspaceDirectoryService, given.transport(serviceClaims));
  const shown = async () =>
    (await directory.getIntegration({ workspaceId: id, integrationId })).integration?.emailProvider;
  expect((await shown())?.warmUp).toMatchObject(warmUp);
  const update = { workspaceId: id, integrationId, name: 'smtp' };
  const wrong = { ...provider, warmUp: { startedOn: 'soon', dailyLimits: [1] } };
  await expect(workspaces.updateIntegration({ ...update, provider: wrong })).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
  await workspaces.updateIntegration({ ...update, provider });
  expect((await shown())?.warmUp).toBeUndefined();
});

test('an integration has 0 to 3 retries of messages with an unknown outcome, by default 1', async () => {
  const id = await givenWorkspace();
  const workspaces = given.workspaces(root);
  const ofIntegration = { workspaceId: id, name: 'smtp' };
  const { integrationId } = await workspaces.createIntegration({
    ...{ ...ofIntegration, type: 'email', provider },
  });
  const directory = createClient(WorkspaceDirectoryService, given.transport(serviceClaims));
  const shown = async () =>
    (await directory.getIntegration({ workspaceId: id, integrationId })).integration?.emailProvider
      ?.unknownRetries;
  const update = (unknownRetries?: number) =>
    workspaces.updateIntegration({
      ...{ ...ofIntegration, integrationId, provider: { ...provider, unknownRetries } },
    });
  expect(await shown()).toBe(1);
  for (const retries of [0, 3]) {
    await update(retries);
    expect(await shown()).toBe(retries);
  }
  for (const retries of [-1, 4]) {
    await expect(update(retries)).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: 'unknown retries must be between 0 and 3',
    });
  }
  await update();
  expect(await shown()).toBe(1);
  await query(
    given.context.store.fork(),
    "update integrations set provider = provider - 'unknown_retries' where id = $1",
    [integrationId],
  );
  expect(await shown()).toBe(1);
});

test('an update of an integration keeps the id of a sender that comes without one', async () => {
  const id = await givenWorkspace();
  const workspaces = given.workspaces(root);
  const sender = { email: 'news@acme.example', name: 'News' };
  const two = { ...provider, senders: [sender, { ...sender, name: 'Again' }] };
  const { integrationId } = await workspaces.createIntegration({
    ...{ workspaceId: id, name: 'smtp', type: 'email', provider: two },
  });
  const ids = async () => {
    const { workspace } = await workspaces.getWorkspace({ id });
    return workspace?.integrations[0]?.emailProvider?.senders.map((each) => each.id);
  };
  const before = await ids();
  expect(new Set(before).size).toBe(2);
  await workspaces.updateIntegration({
    ...{ workspaceId: id, integrationId, name: 'smtp', provider: two },
  });
  expect(await ids()).toEqual(before);
});

test.each([
  ['settings', `jsonb_set(provider, '{smtp,sealed_token}', '"sealed-token"')`],
  ['a kind', `provider || '{"kind": "pigeon", "pigeon": {"sealed_token": "sealed-token"}}'`],
])('an integration with %s of a newer release is shown without them', async (_, newer) => {
  const id = await givenWorkspace();
  const workspaces = given.workspaces(root);
  const integrationId = await givenIntegration(id);
  await query(
    given.context.store.fork(),
    `update integrations set provider = ${newer} where id = $1`,
    [integrationId],
  );
  const { workspace } = await workspaces.getWorkspace({ id });
  expect(workspace?.integrations).toMatchObject([{ id: integrationId }]);
  await workspaces.updateIntegration({ workspaceId: id, integrationId, name: 'smtp', provider });
  const { entries } = await given.audit(root).listAuditLog({ workspaceId: id });
  expect(entries.map(({ action }) => action)).toContain('workspaces.updateIntegration');
  const shown = JSON.stringify(entries.map((entry) => toJson(AuditEntrySchema, entry)));
  expect(shown).not.toContain('sealed-token');
});

test('an integration stores its password sealed, so that only messages opens it', async () => {
  const id = await givenWorkspace();
  const workspaces = given.workspaces(root);
  const integrationId = await givenIntegration(id);
  await workspaces.updateIntegration({
    workspaceId: id,
    integrationId,
    name: 'renamed',
    provider: { ...provider, smtp: { ...provider.smtp, password: '' } },
  });
  const shown = await workspaces.getWorkspace({ id });
  expect(
    JSON.stringify(shown, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
  ).not.toContain('pass-word');
  const rows = await query(
    given.context.store.fork(),
    'select provider from integrations where id = $1',
    [integrationId],
  );
  expect(JSON.stringify(rows)).not.toContain('pass-word');
  const directory = createClient(WorkspaceDirectoryService, given.transport(serviceClaims));
  const answer = await directory.getIntegration({ workspaceId: id, integrationId });
  expect(answer.integration).toMatchObject({
    name: 'renamed',
    emailProvider: { smtp: { password: '' }, senders: [{ email: 'hello@example.com' }] },
  });
  const place = secretPlace({ workspaceId: id, integrationId }, 'smtp.password');
  expect(keyringOf('messages').letters.open(answer.sealedPassword, place)).toBe('pass-word');
  expect(() => keyringOf('workspaces').letters.open(answer.sealedPassword, place)).toThrow();
  const elsewhere = secretPlace(
    { workspaceId: id, integrationId: crypto.randomUUID() },
    'smtp.password',
  );
  expect(() => keyringOf('messages').letters.open(answer.sealedPassword, elsewhere)).toThrow();
  const asUser = createClient(WorkspaceDirectoryService, given.transport(root));
  const refused = asUser.getIntegration({ workspaceId: id, integrationId });
  await expect(refused).rejects.toMatchObject({ code: Code.PermissionDenied });
});

test('an integration with an address that may not be called is refused', async () => {
  const id = await givenWorkspace();
  const inside = { ...provider, smtp: { ...provider.smtp, host: '169.254.169.254' } };
  const refused = given
    .workspaces(root)
    .createIntegration({ workspaceId: id, name: 'x', type: 'email', provider: inside });
  await expect(refused).rejects.toMatchObject({ code: Code.InvalidArgument });
});

test('a repeated Idempotency-Key returns the first answer, and conflicts with another request', async () => {
  const id = await givenWorkspace();
  const workspaces = given.workspaces(root, { 'idempotency-key': 'k1' });
  const request = { workspaceId: id, name: 'smtp', type: 'email', provider };
  const [first, twin] = await Promise.all([
    workspaces.createIntegration(request),
    workspaces.createIntegration(request),
  ]);
  expect(twin).toEqual(first);
  expect((await workspaces.getWorkspace({ id })).workspace?.integrations).toHaveLength(1);
  const other = workspaces.createIntegration({ ...request, name: 'other' });
  await expect(other).rejects.toMatchObject({ code: Code.AlreadyExists });
});

test('list returns only the name to a key that may not read the workspace', async () => {
  const id = await givenWorkspace();
  await given
    .workspaces(root)
    .createIntegration({ workspaceId: id, name: 'SMTP', type: 'email', provider });
  const key = await givenKey(id, { contacts: { read: true, write: false } });
  const { workspaces } = await given.workspaces(key).listWorkspaces({});
  expect(workspaces).toMatchObject([{ id, name: 'Acme', integrations: [] }]);
  expect(workspaces[0]?.settings).toBeUndefined();
  const reader = await givenKey(id, { workspace: { read: true, write: false } });
  const { workspaces: readable } = await given.workspaces(reader).listWorkspaces({});
  expect(readable[0]?.integrations).toHaveLength(1);
  expect(readable[0]?.settings).toBeDefined();
});

test.each([
  ['host', { host: '127.0.0.2' }],
  ['port', { port: 2526 }],
  ['username', { username: 'somebody-else' }],
])('updateIntegration does not send a stored password to another %s', async (_, change) => {
  const workspaceId = await givenWorkspace();
  const owner = given.workspaces(root);
  const { integrationId } = await owner.createIntegration({
    workspaceId,
    name: 'SMTP',
    type: 'email',
    provider,
  });
  const kept = { ...provider, smtp: { ...provider.smtp, password: '' } };
  await owner.updateIntegration({ workspaceId, integrationId, name: 'SMTP', provider: kept });
  const moved = { ...kept, smtp: { ...kept.smtp, ...change } };
  await expect(
    owner.updateIntegration({ workspaceId, integrationId, name: 'SMTP', provider: moved }),
  ).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'password is required when host, port or username change',
  });
});

test('createAPIKey accepts a name that another workspace has, and refuses one twice in a workspace', async () => {
  const [one, other] = [await givenWorkspace(), await givenWorkspace()];
  const create = (workspaceId: string, emailPrefix: string) =>
    given.workspaces(root).createAPIKey({ workspaceId, emailPrefix });
  await create(one, 'robot');
  await create(other, 'robot');
  await expect(create(one, 'robot')).rejects.toMatchObject({ code: Code.AlreadyExists });
  const both = await Promise.allSettled([create(one, 'twin'), create(one, 'twin')]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

const unset = {
  nullFields: { paths: ['marketing_email_provider_id', 'transactional_email_provider_id'] },
};

test('deleteIntegration is refused while settings use it, and names them', async () => {
  const id = await givenWorkspace();
  const workspaces = given.workspaces(root);
  const integrationId = await givenIntegration(id);
  const remove = (workspaceId = id) => workspaces.deleteIntegration({ workspaceId, integrationId });
  const chosen = {
    marketingEmailProviderId: integrationId,
    transactionalEmailProviderId: integrationId,
  };
  await workspaces.updateWorkspace({ id, name: 'A', settings: chosen });
  await expect(remove()).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage:
      'the integration is used by the settings: marketing_email_provider_id, transactional_email_provider_id',
  });
  await workspaces.updateWorkspace({ id, name: 'A', settings: unset });
  await expect(remove(await givenWorkspace())).rejects.toMatchObject({ code: Code.NotFound });
  await remove();
  expect((await workspaces.getWorkspace({ id })).workspace?.integrations).toEqual([]);
  await expect(remove()).rejects.toMatchObject({ code: Code.NotFound });
  await expect(
    workspaces.updateWorkspace({ id, name: 'A', settings: chosen }),
  ).rejects.toMatchObject({ code: Code.InvalidArgument });
});

test('deleteIntegration is refused while queued mail or a broadcast is bound to it, and names them', async () => {
  const id = await givenWorkspace();
  const workspaces = given.workspaces(root);
  const integrationId = await givenIntegration(id);
  const remove = () => workspaces.deleteIntegration({ workspaceId: id, integrationId });
  await workspaces.updateWorkspace({ id, name: 'A', settings: unset });
  let uses = [{ kind: 'broadcast', name: 'News' }];
  let isAway = false;
  const service = (answer: () => typeof uses) => ({
    listIntegrationUses: async () => {
      if (isAway) throw new ConnectError('away', Code.Unavailable);
      return create(ListIntegrationUsesResponseSchema, { uses: answer(), count: answer().length });
    },
  });
  const broadcasts = service(() => uses);
  const messages = service(() => uses.map((use) => ({ ...use, kind: 'notification' })));
  Object.assign(given.context, { integrationUses: { broadcasts, messages } });
  try {
    await expect(remove()).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: "the integration is in use: broadcast 'News', notification 'News'",
    });
    isAway = true;
    await expect(remove()).rejects.toMatchObject({ code: Code.Unavailable });
    isAway = false;
    uses = [];
    await remove();
  } finally {
    Object.assign(given.context, { integrationUses: {} });
  }
});

test('an update keeps the settings that are absent, and null gives one its default', async () => {
  const id = await givenWorkspace();
  const workspaces = given.workspaces(root);
  const integrationId = await givenIntegration(id);
  const update = async (settings?: object) =>
    (await workspaces.updateWorkspace({ id, name: 'A', ...(settings && { settings }) })).workspace
      ?.settings;
  const all = {
    timezone: 'Europe/Paris',
    websiteUrl: 'https://acme.example',
    defaultLanguage: 'fr',
    languages: ['fr', 'en'],
    emailTrackingEnabled: false,
    auditRetentionDays: 30,
    marketingEmailProviderId: integrationId,
    transactionalEmailProviderId: integrationId,
  };
  expect(await update(all)).toMatchObject(all);
  expect(await update()).toMatchObject(all);
  expect(await update({ languages: ['fr', 'en', 'de'] })).toMatchObject({
    ...all,
    languages: ['fr', 'en', 'de'],
  });
  const paths = ['timezone', 'languages', 'default_language', 'marketing_email_provider_id'];
  expect(await update({ nullFields: { paths: [...paths, 'no_such_setting'] } })).toMatchObject({
    ...all,
    timezone: 'UTC',
    languages: ['en'],
    defaultLanguage: 'en',
    marketingEmailProviderId: '',
  });
  await expect(update({ languages: ['de'] })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'default language en must be in the languages list',
  });
});

test('an update that leaves work without a provider is refused, and names the work', async () => {
  const id = await givenWorkspace();
  const workspaces = given.workspaces(root);
  await givenIntegration(id);
  const asked: unknown[] = [];
  const broadcasts = {
    listIntegrationUses: async (request: object) => {
      asked.push(request);
      const uses = [{ kind: 'broadcast', name: 'News' }];
      return create(ListIntegrationUsesResponseSchema, { uses, count: 7 });
    },
  };
  Object.assign(given.context, { integrationUses: { broadcasts } });
  try {
    await workspaces.updateWorkspace({ id, name: 'A', settings: { languages: ['en', 'de'] } });
    expect(asked).toEqual([]);
    await expect(
      workspaces.updateWorkspace({ id, name: 'A', settings: unset }),
    ).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage:
        "settings.marketing_email_provider_id has to name a provider: broadcast 'News' and 6 more",
    });
    expect(asked).toMatchObject([{ workspaceId: id, withUnbound: true }]);
  } finally {
    Object.assign(given.context, { integrationUses: {} });
  }
});

test('the first integration becomes the provider of all mail where the settings name none', async () => {
  const id = await givenWorkspace();
  const first = await givenIntegration(id);
  await givenIntegration(id);
  const { workspace } = await given.workspaces(root).getWorkspace({ id });
  expect(workspace?.settings).toMatchObject({
    marketingEmailProviderId: first,
    transactionalEmailProviderId: first,
  });
});

test('messages is asked to read each change of settings and integrations once it is committed', async () => {
  const id = await givenWorkspace();
  const workspaces = given.workspaces(root);
  const directory = createClient(WorkspaceDirectoryService, given.transport(serviceClaims));
  const read: string[] = [];
  const { mailSettings } = given.context;
  const refreshSettings = async () => {
    const { name, settings } = await directory.getSettings({ workspaceId: id });
    read.push(`${name} ${settings?.marketingEmailProviderId === '' ? 'without' : 'with'}`);
    return mailSettings.refreshSettings({ workspaceId: id });
  };
  Object.assign(given.context, { mailSettings: { refreshSettings } });
  try {
    const integrationId = await givenIntegration(id);
    const update = { workspaceId: id, integrationId, name: 'smtp', provider };
    const without = { marketingEmailProviderId: '', transactionalEmailProviderId: '' };
    await workspaces.updateWorkspace({ id, name: 'A', settings: without });
    await workspaces.updateIntegration(update);
    await workspaces.deleteIntegration({ workspaceId: id, integrationId });
    expect(read).toEqual(['Acme with', 'A without', 'A without', 'A without']);
  } finally {
    Object.assign(given.context, { mailSettings });
  }
});

test('an integration changes also while messages does not answer', async () => {
  const id = await givenWorkspace();
  const workspaces = given.workspaces(root);
  const integrationId = await givenIntegration(id);
  const { mailSettings } = given.context;
  const refreshSettings = async () => {
    throw new ConnectError('away', Code.Unavailable);
  };
  Object.assign(given.context, { mailSettings: { refreshSettings } });
  try {
    await workspaces.updateIntegration({ workspaceId: id, integrationId, name: 'new', provider });
  } finally {
    Object.assign(given.context, { mailSettings });
  }
  const { workspace } = await workspaces.getWorkspace({ id });
  expect(workspace?.integrations).toMatchObject([{ name: 'new' }]);
});
