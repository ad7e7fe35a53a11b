import { toJson } from '@bufbuild/protobuf';
import { Code, createClient } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import { AuditEntrySchema } from '#gen/postrider/workspaces/v1/audit_pb.ts';
import {
  GetWorkspaceResponseSchema,
  WorkspaceDirectoryService,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import { kindsOfProvider } from '#lib/providers/all.ts';
import { secretPlace } from '#lib/providers/kind.ts';
import { keyringOf, serviceClaims } from '../../../test/setup/service.ts';
import { givenRoot, provider, useService } from '../test/given.ts';
import { givenWorkspace } from '../test/given-key.ts';

const given = useService();
let root: Claims;
beforeAll(async () => {
  root = await givenRoot(given);
});

/** Settings that are shown, those that are secret, and one that names another account. */
type Example = { shown: object; secrets: Record<string, string>; another?: object };

const examples: Record<string, Example> = {
  smtp: {
    shown: { host: '127.0.0.1', port: 2525, username: 'mailer', direct: true },
    secrets: { password: 'smtp-secret' },
    another: { username: 'another' },
  },
  ses: {
    shown: {
      ...{ region: 'eu-west-1', accessKey: 'AKIDEXAMPLE', configurationSet: 'post-rider_1' },
      topicArn: 'arn:aws:sns:eu-west-1:123456789012:reports',
    },
    secrets: { secretKey: 'wJalrXUtnFEMI/K7MDENG+secret' },
    another: { region: 'us-east-1' },
  },
  sparkpost: {
    shown: { sandboxMode: true, endpoint: 'https://api.eu.sparkpost.com' },
    secrets: { apiKey: 'spark-secret' },
    another: { endpoint: 'https://api.sparkpost.com' },
  },
  postmark: {
    shown: { messageStream: 'receipts', broadcastStream: 'news' },
    secrets: { serverToken: 'post-secret' },
  },
  mailgun: {
    shown: { domain: 'mg.example.com', region: 'EU' },
    secrets: { apiKey: 'gun-secret', webhookSigningKey: 'gun-signing-secret' },
    another: { region: 'US' },
  },
  mailjet: {
    shown: { sandboxMode: true },
    secrets: { apiKey: 'jet-public-secret', secretKey: 'jet-secret' },
  },
  sendgrid: {
    shown: { region: 'eu', webhookPublicKey: 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE==' },
    secrets: { apiKey: 'SG.secret' },
    another: { region: 'global' },
  },
  brevo: { shown: {}, secrets: { apiKey: 'xkeysib-secret' } },
  resend: { shown: {}, secrets: { apiKey: 're_secret', webhookSecret: 'whsec_secret' } },
};

const { smtp: _, ...common } = provider;
const providerOf = (kind: string, settings: object) => ({ ...common, kind, [kind]: settings });
const emptied = (secrets: object) =>
  Object.fromEntries(Object.keys(secrets).map((name) => [name, '']));
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

async function givenIntegration(kind: string) {
  const { shown, secrets, another } = examples[kind]!;
  const workspaceId = await givenWorkspace(given, root);
  const workspaces = given.workspaces(root);
  const { integrationId } = await workspaces.createIntegration({
    ...{ workspaceId, name: kind, type: 'email' },
    provider: providerOf(kind, { ...shown, ...secrets }),
  });
  const update = (settings: object) =>
    workspaces.updateIntegration({
      ...{ workspaceId, integrationId, name: 'renamed' },
      provider: providerOf(kind, { ...shown, ...emptied(secrets), ...settings }),
    });
  const opened = async () => {
    const directory = createClient(WorkspaceDirectoryService, given.transport(serviceClaims));
    const { sealedSecrets } = await directory.getIntegration({ workspaceId, integrationId });
    return Object.fromEntries(
      Object.keys(secrets).map((name) => {
        const place = secretPlace({ workspaceId, integrationId }, `${kind}.${snake(name)}`);
        return [name, keyringOf('messages').letters.open(sealedSecrets[snake(name)] ?? '', place)];
      }),
    );
  };
  return { workspaceId, integrationId, shown, secrets, another, update, opened };
}

const names = kindsOfProvider.map(({ kind }) => kind);

test.each(names)('an integration of kind %s keeps its secrets, and shows none', async (kind) => {
  const { workspaceId, integrationId, shown, secrets, update, opened } =
    await givenIntegration(kind);
  expect(await opened()).toEqual(secrets);
  await update({});
  expect(await opened()).toEqual(secrets);
  const changed = Object.fromEntries(
    Object.entries(secrets).map(([name, value]) => [name, `${value}-new`]),
  );
  await update(changed);
  expect(await opened()).toEqual(changed);
  const workspace = await given.workspaces(root).getWorkspace({ id: workspaceId });
  expect(workspace.workspace?.integrations).toMatchObject([
    { name: 'renamed', emailProvider: { kind, [kind]: { ...shown, ...emptied(secrets) } } },
  ]);
  const { entries } = await given.audit(root).listAuditLog({ workspaceId });
  const rows = await query(
    given.context.store.fork(),
    'select provider from integrations where id = $1',
    [integrationId],
  );
  const texts = JSON.stringify([
    toJson(GetWorkspaceResponseSchema, workspace),
    entries.map((entry) => toJson(AuditEntrySchema, entry)),
    rows,
  ]);
  expect(texts).toContain('renamed');
  expect(Object.values(secrets).filter((secret) => texts.includes(secret))).toEqual([]);
});

test.each(names.filter((kind) => examples[kind]?.another))(
  'the secrets of an integration of kind %s do not go to another account',
  async (kind) => {
    const { another = {}, secrets, update, opened } = await givenIntegration(kind);
    await expect(update(another)).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringMatching(/^\w+ is required when .* change$/),
    });
    expect(await opened()).toEqual(secrets);
    await update({ ...another, ...secrets });
  },
);

const odd = 'must be at most 1,000 printable ASCII characters';

test.each<[kind: string, settings: object, field: string, fault: string]>([
  ['ses', { region: 'eu-west-1.evil.example/' }, 'region', 'must be such as eu-west-1'],
  ['ses', { region: '' }, 'region', 'is required'],
  ['ses', { accessKey: 'AKID, Signature=0' }, 'access_key', 'must be 1 to 128 letters and digits'],
  ['ses', { secretKey: 'a b' }, 'secret_key', odd],
  [
    ...(['ses', { configurationSet: 'a'.repeat(65) }, 'configuration_set'] as const),
    'must be 1 to 64 letters, digits, hyphens and underscores',
  ],
  ['ses', { topicArn: 'https://evil.example' }, 'topic_arn', 'must be the ARN of a topic'],
  ['sparkpost', { apiKey: 'a\r\nHost: evil.example' }, 'api_key', odd],
  [
    ...(['sparkpost', { endpoint: 'https://evil.example' }, 'endpoint'] as const),
    'must be https://api.sparkpost.com or https://api.eu.sparkpost.com',
  ],
  ['postmark', { serverToken: 'ü' }, 'server_token', odd],
  [
    ...(['postmark', { broadcastStream: 'a b' }, 'broadcast_stream'] as const),
    'must be 1 to 100 letters, digits, hyphens and underscores',
  ],
  ['mailgun', { domain: 'mg.example.com/../evil' }, 'domain', 'must be a host name'],
  ['mailgun', { domain: '' }, 'domain', 'is required'],
  ['mailgun', { region: 'eu' }, 'region', 'must be US or EU'],
  ['mailgun', { webhookSigningKey: 'x'.repeat(1_001) }, 'webhook_signing_key', odd],
  ['mailjet', { apiKey: 'a:b' }, 'api_key', 'has a colon'],
  ['mailjet', { secretKey: '\0' }, 'secret_key', odd],
  ['sendgrid', { region: 'moon' }, 'region', 'must be global or eu'],
  ['sendgrid', { webhookPublicKey: '<key>' }, 'webhook_public_key', 'must be a key in base64'],
  ['brevo', { apiKey: 'x y' }, 'api_key', odd],
  ['resend', { webhookSecret: 'whsec\n' + 'x' }, 'webhook_secret', odd],
])('createIntegration refuses kind %s with %j', async (kind, settings, field, fault) => {
  const { shown, secrets } = examples[kind]!;
  const workspaceId = await givenWorkspace(given, root);
  const refused = given.workspaces(root).createIntegration({
    ...{ workspaceId, name: kind, type: 'email' },
    provider: providerOf(kind, { ...shown, ...secrets, ...settings }),
  });
  await expect(refused).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringMatching(
      new RegExp(`^${field} of the \\w+ configuration ${fault.replaceAll('.', '\\.')}$`),
    ),
  });
});

test.each(names)('createIntegration refuses kind %s without its settings', async (kind) => {
  const workspaceId = await givenWorkspace(given, root);
  const refused = given.workspaces(root).createIntegration({
    ...{ workspaceId, name: kind, type: 'email' },
    provider: { ...common, kind },
  });
  await expect(refused).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringContaining(`required when email provider kind is ${kind}`),
  });
});
