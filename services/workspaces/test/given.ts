import { createHmac } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { type ConnectError, createClient } from '@connectrpc/connect';
import {
  RefreshSettingsResponseSchema,
  ResealPasswordsResponseSchema,
  SendSystemMailResponseSchema,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { APIKeyService } from '#gen/postrider/workspaces/v1/api_keys_pb.ts';
import { AuditService } from '#gen/postrider/workspaces/v1/audit_pb.ts';
import { DeletionService } from '#gen/postrider/workspaces/v1/deletion_pb.ts';
import { DomainPageService, DomainService } from '#gen/postrider/workspaces/v1/domains_pb.ts';
import { MemberService } from '#gen/postrider/workspaces/v1/members_pb.ts';
import { SessionService } from '#gen/postrider/workspaces/v1/sessions_pb.ts';
import { UsageService } from '#gen/postrider/workspaces/v1/usage_pb.ts';
import {
  UserService,
  WorkspaceDirectoryService,
  WorkspaceService,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { oldTokenVerifier } from '#lib/keys/secret-key.ts';
import { createLog } from '#lib/log.ts';
import { createEgress } from '#lib/outside/egress.ts';
import { testStore } from '../../../test/setup/database.ts';
import { rsaPair } from '../../../test/setup/rsa-pair.ts';
import { keyring, secretKey, testTransport } from '../../../test/setup/service.ts';
import { shared } from '../../../test/setup/shared.ts';
import { writeEntries } from '../audit/entries.ts';
import type { Context } from '../context.ts';
import { dnsServers } from '../domain-checks/dns.ts';
import type { Algorithm } from '../domains/domain.ts';
import { newPair, type SigningPair } from '../domains/keys.ts';
import { createSetupLinks } from '../domains/setup-link.ts';
import { LastUse } from '../keys/last-use.ts';
import { createAuthorize } from '../members/authorize.ts';
import { workspacesRoutes } from '../service.ts';
import { openWorkspacesStore } from '../store.ts';

const publicUrl = 'http://127.0.0.1:4400';
export const rootEmail = 'root@example.com';

/** The service on a database of its own, or on a given one, with a clock that the test sets. */
export async function givenService(
  url?: string,
  /** Without any, nothing answers for names. */
  dnsAddresses: readonly string[] = ['127.0.0.1:9'],
) {
  const clock = { now: new Date('2030-01-01T12:00:00Z') };
  const postbox = openPostbox();
  const store = url ? await openWorkspacesStore(url) : await testStore(openWorkspacesStore);
  const context: Context = {
    store,
    keyring,
    secretKeys: [secretKey],
    verifyOld: oldTokenVerifier([secretKey], () => {}),
    credentials: { resealPasswords: async () => create(ResealPasswordsResponseSchema) },
    mailSettings: { refreshSettings: async () => create(RefreshSettingsResponseSchema) },
    egress: createEgress({ allow: ['127.0.0.0/8'], dnsServers: dnsAddresses }),
    systemMail: postbox.systemMail,
    dataServices: {},
    usageCounters: {},
    quotas: {},
    log: createLog('test', 'silent'),
    integrationUses: {},
    lastUse: new LastUse(store, createLog('test', 'silent')),
    now: () => clock.now,
    rootEmails: [rootEmail, 'second@example.com'],
    rootSignInsMax: 1_000,
    publicUrl,
    installation: { bounceDomain: 'bounces.example.net', dkimZone: '', publicUrl },
    dnsServers: dnsServers(dnsAddresses),
    makePair,
    seenForMs: 60 * 60_000,
    setupLinks: createSetupLinks({ keyring, publicUrl, now: () => clock.now }),
  };
  const transport = testTransport(workspacesRoutes(context), {
    authorize: createAuthorize(context),
    audit: {
      store,
      write: writeEntries,
      log: createLog('test', 'silent'),
    },
  });
  return {
    clock,
    context,
    transport,
    postbox,
    sessions: (claims?: Claims, headers?: Record<string, string>) =>
      createClient(SessionService, transport(claims, headers)),
    users: createClient(UserService, transport()),
    members: (claims: Claims) => createClient(MemberService, transport(claims)),
    audit: (claims: Claims) => createClient(AuditService, transport(claims)),
    auditService: createClient(AuditService, transport()),
    domainPages: createClient(DomainPageService, transport()),
    domains: (claims: Claims) => createClient(DomainService, transport(claims)),
    deletions: (claims: Claims) => createClient(DeletionService, transport(claims)),
    directory: createClient(WorkspaceDirectoryService, transport()),
    usage: (claims: Claims) => createClient(UsageService, transport(claims)),
    keys: (claims: Claims) => createClient(APIKeyService, transport(claims)),
    workspaces: (claims: Claims, headers?: Record<string, string>) =>
      createClient(WorkspaceService, transport(claims, headers)),
  };
}

/** Pairs of RSA are made once for all files of a worker. */
async function makePair(algorithm: Algorithm): Promise<SigningPair> {
  if (algorithm !== 'rsa') return newPair(algorithm);
  const { publicKey, privateKey } = rsaPair();
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'der' }),
  };
}

export type Given = Awaited<ReturnType<typeof givenService>>;

type Mail = { key: string; to: string; subject: string; text: string };

/** The operator's mail server, as messages offers it; `fail` makes it refuse. */
function openPostbox() {
  const postbox = {
    mails: [] as Mail[],
    fail: undefined as ConnectError | undefined,
    systemMail: {
      async sendSystemMail(mail: unknown) {
        if (postbox.fail) throw postbox.fail;
        postbox.mails.push(mail as Mail);
        return create(SendSystemMailResponseSchema);
      },
    },
  };
  return postbox;
}

/** The service for all tests of a file. */
export function useService(): Given {
  return shared(
    () => givenService(),
    ({ context }) => Promise.all([context.egress.close(), context.store.close()]),
  );
}

/** A sign-in request as a deployment script makes it. */
export function signinRequest(clock: { now: Date }, email = rootEmail) {
  const timestamp = Math.floor(clock.now.getTime() / 1000);
  const signature = createHmac('sha256', secretKey).update(`${email}:${timestamp}`).digest('hex');
  return { email, timestamp: BigInt(timestamp), signature };
}

/** Signs root in and returns the claims of the session. */
export async function givenRoot({ users, clock }: Given): Promise<Claims> {
  const { token } = await users.signInRoot(signinRequest(clock));
  const claims = await keyring.verifyToken(token);
  if (!claims) throw new Error('the token is not valid');
  return claims;
}

export const provider = {
  kind: 'smtp',
  smtp: { host: '127.0.0.1', port: 2525, username: 'mailer', password: 'pass-word', useTls: false },
  senders: [{ email: 'Hello@Example.com', name: 'Hello', isDefault: true }],
  rateLimitPerMinute: 1000,
};
