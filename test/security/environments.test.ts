import { Code, createClient } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { deriveKey } from '#lib/keys/derive.ts';
import { privateKeyOf } from '#lib/keys/key-pair.ts';
import type { Claims, SealedPlace } from '#lib/keys/keyring.ts';
import { oldCredentialKeys, openOldCredential } from '#lib/keys/secret-key.ts';
import { secretPlace } from '#lib/providers/kind.ts';
import { connectTo } from '#lib/rpc/client/client.ts';
import { givenEndpoint } from '../../services/webhooks/test/given-endpoint.ts';
import { leakedEnvironments } from '../stack/environment.ts';
import { draftOf, givenList, givenTemplate, good } from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import { deleteWebhook, queryStack, subscribe } from '../stack/webhooks.ts';

const stack = borrowedStack();
const countingMs = 5 * 60_000;
const nowSeconds = () => Math.floor(Date.now() / 1_000);

/** The owner of the stack's workspace, from the token of a session. */
async function ownerClaims(): Promise<Claims> {
  const token = await ownerToken(stack.settings);
  const { sub, sid } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  return { type: 'user', subject: sub, sessionId: sid };
}

test('the master secret and the mail server of the system are in one environment each', () => {
  const having = (variable: string) =>
    leakedEnvironments(stack)
      .filter(({ environment }) => environment[variable] !== undefined)
      .map(({ service }) => service);
  expect(new Set(having('SECRET_KEY'))).toEqual(new Set(['workspaces']));
  expect(new Set(having('SYSTEM_SMTP_URL'))).toEqual(new Set(['messages']));
  const secret = stack.settings.SECRET_KEY ?? 'none';
  for (const { service, environment } of leakedEnvironments(stack)) {
    const { SECRET_KEY: _, ...others } = environment;
    expect(JSON.stringify(others)).not.toContain(secret);
    for (const name of Object.keys(others)) {
      if (name.endsWith('_DATABASE_URL'))
        expect(name).toBe(`${service.toUpperCase()}_DATABASE_URL`);
    }
  }
});

test(
  'a token of the owner or of an API key that is signed with any key of a process is refused, except from workspaces',
  async () => {
    const owner = await ownerClaims();
    for (const { name, service, environment, keyset, keyring } of leakedEnvironments(stack)) {
      if (service === 'workspaces') {
        const token = await keyring.signToken(owner, 60);
        expect((await stack.call('user.me', undefined, { token })).status).toBe(200);
        continue;
      }
      for (const type of ['user', 'api_key'] as const) {
        expect(() => keyring.signToken({ ...owner, type }, 60)).toThrow('has no key');
        for (const token of await forged(keyset, { ...owner, type })) {
          const { status } = await stack.call('user.me', undefined, { token });
          expect([name, status]).toEqual([name, 401]);
          const contacts = createClient(
            ContactService,
            connectTo(addressOf('CONTACTS'), bearer(token)),
          );
          await expect(
            contacts.countContacts({ workspaceId: stack.workspaceId }),
          ).rejects.toMatchObject({ code: Code.Unauthenticated });
        }
      }
      expect(environment.SECRET_KEY).toBeUndefined();
    }
  },
  countingMs,
);

const addressOf = (service: string) => stack.settings[`${service}_GRPC_ADDR`] ?? '';
const bearer = (token: string) => ({ authorization: async () => `Bearer ${token}` });

type Keys = ReturnType<typeof leakedEnvironments>[number]['keyset'];

/**
 * Tokens that whoever has a keyset would try: under each name of a trusted key, and as HS256 with
 * each secret.
 */
async function forged(keyset: Keys, claims: Claims): Promise<string[]> {
  const { type, subject, sessionId } = claims;
  const body = { type, sid: sessionId, iss: 'workspaces', aud: 'postrider/api' };
  const [own] = keyset.identity;
  if (!own) throw new Error('no identity');
  const kids = [own.x, keyset.people[0] ?? ''].map((x) => x.slice(0, 11));
  const ed = kids.map((kid) => [{ alg: 'EdDSA', kid }, privateKeyOf('Ed25519', own)] as const);
  const secrets = [...Object.values(keyset.macs), ...Object.values(keyset.boxes)].flat();
  const hs = [own.d, ...keyset.people, ...secrets].map(
    (key) =>
      [{ alg: 'HS256' }, deriveKey(Buffer.from(key, 'base64url'), 'postrider/tokens')] as const,
  );
  return Promise.all(
    [...ed, ...hs].map(([header, key]) =>
      new SignJWT(body)
        .setProtectedHeader(header)
        .setSubject(subject)
        .setIssuedAt()
        .setExpirationTime(nowSeconds() + 60)
        .sign(key),
    ),
  );
}

test('a process calls others as its own service alone', async () => {
  for (const { service, keyset, keyring } of leakedEnvironments(stack)) {
    const speaking = (name: string, kid = keyset.identity[0]?.x ?? '') =>
      new SignJWT({ type: 'service' })
        .setProtectedHeader({ alg: 'EdDSA', kid: kid.slice(0, 11) })
        .setIssuer(name)
        .setAudience('postrider/services')
        .setSubject(name)
        .setIssuedAt()
        .setExpirationTime(nowSeconds() + 60)
        .sign(privateKeyOf('Ed25519', keyset.identity[0] ?? { x: '', d: '' }));
    const ask = async (token: string) => {
      const audience = createClient(
        AudienceService,
        connectTo(addressOf('CONTACTS'), bearer(token)),
      );
      return audience.listAudience({ workspaceId: stack.workspaceId, listId: 'none', pageSize: 1 });
    };
    const own = await keyring.signToken({ type: 'service', subject: service, sessionId: '' }, 60);
    const known = await ask(own).catch((error) => error);
    expect(known.code).not.toBe(Code.Unauthenticated);
    const other = service === 'messages' ? 'workspaces' : 'messages';
    for (const token of [
      await speaking(other),
      await speaking(other, keyset.services[other]?.[0]),
    ]) {
      await expect(ask(token)).rejects.toMatchObject({ code: Code.Unauthenticated });
    }
    // Keys of old boxes are for messages, and nobody else.
    const directory = createClient(
      WorkspaceDirectoryService,
      connectTo(addressOf('WORKSPACES'), bearer(own)),
    );
    const keys = directory.getOldBoxKeys({ workspaceId: 'w1', purpose: 'message-contents' });
    if (service === 'messages') await keys;
    else await expect(keys).rejects.toMatchObject({ code: Code.PermissionDenied });
  }
});

type Stored = {
  owner: string;
  sealed: string;
  purpose: string | undefined;
  place: SealedPlace;
  plain: string;
};

/** A secret of each kind, as it is in the database. */
async function givenSecrets(): Promise<Stored[]> {
  const { workspaceId } = stack;
  const token = await ownerToken(stack.settings);
  const smtp = {
    host: '127.0.0.1',
    port: 2525,
    username: 'me',
    password: 'smtp-pass',
    use_tls: false,
  };
  const senders = [{ email: 'hello@example.com', name: 'Hello', is_default: true }];
  const provider = { kind: 'smtp', smtp, senders, rate_limit_per_minute: 100 };
  const body = { workspace_id: workspaceId, name: 'leaky', type: 'email', provider };
  const made = good(await stack.call('workspaces.createIntegration', body, { token }));
  const endpoint = await givenEndpoint();
  const { id: hook, secret } = await subscribe(stack, endpoint.url, ['contact.created']);
  const [listId, templateId] = [await givenList(stack), await givenTemplate(stack)];
  const feed = {
    enabled: true,
    url: 'http://127.0.0.1:1/',
    headers: [{ name: 'X-Key', value: 'feed-key' }],
  };
  const draft = { ...draftOf(stack, { listId, templateId }), data_feed: { recipient_feed: feed } };
  const { broadcast } = good(await stack.call('broadcasts.create', draft));
  const read = async (sql: string, id: string) =>
    (await queryStack<{ sealed: string }>(stack, sql, [workspaceId, id]))[0]?.sealed ?? '';
  const where = 'where workspace_id = $1 and id = $2';
  const secrets: Stored[] = [
    {
      ...{ owner: 'messages', purpose: undefined, plain: 'smtp-pass' },
      sealed: await read(
        `select provider->'smtp'->>'sealed_password' as sealed from workspaces.integrations ${where}`,
        made.integration_id,
      ),
      place: secretPlace({ workspaceId, integrationId: made.integration_id }, 'smtp.password'),
    },
    {
      ...{ owner: 'webhooks', purpose: 'webhook-secrets', plain: String(secret) },
      sealed: await read(
        `select sealed_secret as sealed from webhooks.subscriptions ${where}`,
        hook,
      ),
      place: { workspaceId, row: hook, column: 'sealed_secret' },
    },
    {
      ...{ owner: 'broadcasts', purpose: 'feed-headers', plain: 'feed-key' },
      sealed: await read(
        `select data_feed->'recipient_feed'->'headers'->0->>'sealed_value' as sealed
         from broadcasts.broadcasts ${where}`,
        broadcast.id,
      ),
      place: { workspaceId, row: broadcast.id, column: 'recipient x-key' },
    },
  ];
  const gone = { workspace_id: workspaceId, integration_id: made.integration_id };
  good(await stack.call('workspaces.deleteIntegration', gone, { token }));
  await deleteWebhook(stack, { id: hook });
  return secrets;
}

test('credentials of mail servers, secrets of webhooks and headers of feeds are opened by their owner alone', async () => {
  const secrets = await givenSecrets();
  for (const { name, service, environment, keyring } of leakedEnvironments(stack)) {
    for (const { owner, sealed, purpose, place, plain } of secrets) {
      expect(sealed).not.toContain(plain);
      const open = () =>
        purpose ? keyring.open(purpose, sealed, place) : keyring.letters.open(sealed, place);
      if (service === owner) expect([name, open()]).toEqual([name, plain]);
      else expect(open).toThrow();
      const master = environment.SECRET_KEY;
      if (master) expect(() => openOldCredential(oldCredentialKeys([master]), sealed)).toThrow();
    }
  }
});

test('a token of before works through the gateway and on the ports of services, until its key is revoked', async () => {
  const { workspaceId, settings } = stack;
  const token = await ownerToken(settings);
  const name = `old-${Date.now()}`;
  const made = good(
    await stack.call(
      'workspaces.createAPIKey',
      { workspace_id: workspaceId, email_prefix: name },
      { token },
    ),
  );
  const { sub, sid } = JSON.parse(Buffer.from(made.token.split('.')[1], 'base64url').toString());
  const old = await new SignJWT({ type: 'api_key', sid })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(sub)
    .setIssuedAt()
    .setExpirationTime(nowSeconds() + 3_600)
    .sign(deriveKey(settings.SECRET_KEY ?? '', 'postrider/tokens'));
  const query = { workspace_id: workspaceId };
  const throughGateway = async () =>
    (await stack.call('contacts.count', undefined, { token: old, query })).status;
  const contacts = createClient(ContactService, connectTo(addressOf('CONTACTS'), bearer(old)));
  const onPort = () =>
    contacts.countContacts({ workspaceId }).then(
      () => 0,
      (error) => error.code,
    );
  expect([await throughGateway(), await onPort()]).toEqual([200, 0]);
  good(
    await stack.call('workspaces.revokeAPIKey', { workspace_id: workspaceId, id: sub }, { token }),
  );
  await until(
    'the key is dead everywhere',
    async () => (await throughGateway()) === 401 && (await onPort()) === Code.Unauthenticated,
    { withinMs: 10_000 },
  );
});
