import { create } from '@bufbuild/protobuf';
import {
  type ConnectRouter,
  createRouterTransport,
  type Interceptor,
  type Transport,
} from '@connectrpc/connect';
import { PermissionSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { newKeyPair } from '#lib/keys/key-pair.ts';
import { type Claims, createKeyring } from '#lib/keys/keyring.ts';
import { createLog, type Log } from '#lib/log.ts';
import type { Authorize } from '#lib/rpc/server/access.ts';
import type { Audit } from '#lib/rpc/server/audit.ts';
import { callRules } from '#lib/rpc/server/serve.ts';
import { binaryOptions } from '#lib/rpc/wire.ts';
import { keyringOfAll } from '#lib/test/all-keys.ts';
import { type Installation, keysetsOf, newInstallation } from '../../deploy/keys/installation.ts';

export const secretKey = 'a-secret-key-that-is-for-tests-only';
/** The keys of an installation, as processes have them. */
export const installation = givenInstallation();
export const keyringOf = (service: string) => {
  const keyset = keysetsOf(installation)[service];
  if (!keyset) throw new Error(`no service is called ${service}`);
  return createKeyring(keyset);
};

/** For tests of one service: it has the keys of all, and signs as the service `test`. */
export const keyring = keyringOfAll('test', installation);

/** Processes that a test starts have the same keys. */
function givenInstallation(): Installation {
  const made = newInstallation(secretKey);
  made.identities.test = [newKeyPair('Ed25519')];
  process.env.TEST_KEYS ??= JSON.stringify(made);
  return JSON.parse(process.env.TEST_KEYS);
}

/** An owner of every workspace: for tests that are not about access. */
export const ownerEverywhere: Authorize = async () => ({
  active: true,
  root: true,
  role: 'owner',
  permissions: {},
  allowedAddresses: [],
});

type Permissions = Record<string, { read?: boolean; write?: boolean }>;

/** A member of every workspace. Later changes of `permissions` count from the next call. */
export function memberWith(permissions: Permissions): Authorize {
  return async () => ({
    active: true,
    root: false,
    role: 'member',
    allowedAddresses: [],
    permissions: Object.fromEntries(
      Object.entries(permissions).map(([resource, rights]) => [
        resource,
        create(PermissionSchema, rights),
      ]),
    ),
  });
}

type Options = { authorize?: Authorize; audit?: Audit; demo?: boolean; log?: Log };

/**
 * An in-memory transport to the real handlers of a service, through the interceptors of every
 * service. Calls have the token of `claims`, or none.
 */
export function testTransport(
  routes: (router: ConnectRouter) => void,
  {
    authorize = ownerEverywhere,
    audit,
    demo = false,
    log = createLog('test', 'silent'),
  }: Options = {},
) {
  return (
    claims: Claims | undefined = serviceClaims,
    headers: Record<string, string> = {},
  ): Transport => {
    const token = claims && renewed(() => keyring.signToken(claims, 60));
    const withToken: Interceptor = (next) => async (request) => {
      if (token) request.header.set('authorization', `Bearer ${await token()}`);
      for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
      return next(request);
    };
    return createRouterTransport(routes, {
      transport: { interceptors: [withToken], binaryOptions },
      router: {
        binaryOptions,
        ...callRules({ authorize, audit, demo, keyring, log }),
      },
    });
  };
}

/** A token for several calls, as clients have them. */
function renewed(make: () => Promise<string>): () => Promise<string> {
  let made: { token: Promise<string>; atMs: number } | undefined;
  return () => {
    const ageMs = Date.now() - (made?.atMs ?? 0);
    if (!made || ageMs < 0 || ageMs > 30_000) made = { token: make(), atMs: Date.now() };
    return made.token;
  };
}

export const serviceClaims: Claims = { type: 'service', subject: 'test', sessionId: '' };

/** The claims of a user, whose permissions follow from the test's `authorize`. */
export function userClaims(subject: string = crypto.randomUUID()): Claims {
  return { type: 'user', subject, sessionId: crypto.randomUUID() };
}
