import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { beforeAll, expect, test } from '@jest/globals';
import {
  type ResealPasswordsRequestSchema,
  ResealPasswordsResponseSchema,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { type Claims, createKeyring } from '#lib/keys/keyring.ts';
import { signingKeyPlace } from '#lib/keys/places.ts';
import { oldCredentialKeys } from '#lib/keys/secret-key.ts';
import { query } from '#lib/postgres/query.ts';
import { resealColumn } from '#lib/postgres/reseal.ts';
import { secretPlace } from '#lib/providers/kind.ts';
import { addKeys, keysetsOf, newInstallation, useKeys } from '../../../deploy/keys/installation.ts';
import { givenRoot, provider, useService } from '../test/given.ts';
import { givenWorkspace } from '../test/given-key.ts';
import { hmacKeyPlace, workspaceSecrets } from '../workspace.ts';
import { sealedColumns } from './sealed.ts';

// Sealed before keysets, by this key: `pass-word`.
const secret = 'the-secret-key-of-an-installation-before-keysets';
const credential = '718kiDZ4Kke649X++156RB4QYGhW42WLR3tC2YoodYnvXlPA0A==';

const given = useService();
let root: Claims;
beforeAll(async () => {
  root = await givenRoot(given);
});
const first = newInstallation(secret);
const second = useKeys(addKeys(first, {}));
const keyringOf = (all: typeof first, service: 'workspaces' | 'messages') => {
  const keyset = keysetsOf(all)[service];
  if (!keyset) throw new Error('no keys');
  return createKeyring(keyset, { oldCredentials: oldCredentialKeys([secret]) });
};

type Asked = MessageInitShape<typeof ResealPasswordsRequestSchema>;

/** As messages answers it. */
function credentialsOf(all: typeof first) {
  const { letters } = keyringOf(all, 'messages');
  return {
    async resealPasswords({ workspaceId = '', passwords = [] }: Asked) {
      const sealed = passwords.map(({ integrationId = '', sealed = '', secret = '' }) => {
        const place = secretPlace({ workspaceId, integrationId }, secret);
        return letters.seal(letters.open(sealed, place), place);
      });
      return create(ResealPasswordsResponseSchema, { sealed });
    },
  };
}

async function rotate(all: typeof first) {
  const context = { keyring: keyringOf(all, 'workspaces'), credentials: credentialsOf(all) };
  const done = [];
  for (const column of sealedColumns(context)) {
    done.push(await resealColumn(given.context.store, column, { info: () => {} }));
  }
  return done;
}

test('passwords of before are sealed for messages, and later to its new key without being opened here', async () => {
  const id = await givenWorkspace(given, root);
  const workspaces = given.workspaces(root);
  const ofIntegration = { workspaceId: id, name: 'smtp', type: 'email', provider };
  const { integrationId } = await workspaces.createIntegration(ofIntegration);
  const em = given.context.store.fork();
  await query(
    em,
    "update integrations set provider = jsonb_set(provider, '{smtp,sealed_password}', to_jsonb($2::text)) where id = $1",
    [integrationId, credential],
  );
  await query(em, 'update workspaces set sealed_hmac_key = $2 where id = $1', [id, credential]);
  const read = async () => {
    const [row] = await query<{ password: string; hmac: string }>(
      em,
      `select provider->'smtp'->>'sealed_password' as password, sealed_hmac_key as hmac
       from integrations join workspaces on workspaces.id = workspace_id where integrations.id = $1`,
      [integrationId],
    );
    if (!row) throw new Error('no row');
    return row;
  };
  for (const all of [first, second]) {
    const done = await rotate(all);
    expect(done.slice(0, 2)).toMatchObject([
      { resealed: 1, unreadable: 0 },
      { resealed: 1, unreadable: 0 },
    ]);
    // Secrets of other kinds.
    expect(done.slice(2).every(({ rows }) => rows === 0)).toBe(true);
    const { password, hmac } = await read();
    const place = secretPlace({ workspaceId: id, integrationId }, 'smtp.password');
    expect(keyringOf(all, 'messages').letters.open(password, place)).toBe('pass-word');
    const own = keyringOf(all, 'workspaces');
    expect(() => own.letters.open(password, place)).toThrow('cannot be opened');
    expect(own.open(workspaceSecrets, hmac, hmacKeyPlace(id))).toBe('pass-word');
    expect(own.letters.isCurrent(password)).toBe(true);
    expect((await rotate(all)).every(({ resealed }) => resealed === 0)).toBe(true);
  }
});

test('private halves of keys are sealed to the new key of messages, which opens them as before', async () => {
  const workspaceId = await givenWorkspace(given, root);
  const name = 'rotated.example.com';
  const selector = 'pr1';
  const place = signingKeyPlace(workspaceId, name, selector);
  const em = given.context.store.fork();
  await query(
    em,
    `insert into dkim_keys (workspace_id, host, domain, selector, algorithm, public_key,
       sealed_private_key, state, since, created_at)
     values ($1, $2, $3, $4, 'rsa', 'x', $5, 'signing', now(), now())`,
    [
      ...[workspaceId, `${selector}._domainkey.${name}`, name, selector],
      keyringOf(first, 'workspaces').letters.seal('a private key', place),
    ],
  );
  await rotate(second);
  const [row] = await query<{ sealed: string }>(
    em,
    'select sealed_private_key as sealed from dkim_keys where workspace_id = $1',
    [workspaceId],
  );
  const { letters } = keyringOf(second, 'messages');
  expect(letters.isCurrent(row?.sealed ?? '')).toBe(true);
  expect(letters.open(row?.sealed ?? '', place)).toBe('a private key');
});
