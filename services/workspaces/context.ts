import type { ServiceImpl } from '@connectrpc/connect';
import type { APIKeyService } from '#gen/postrider/workspaces/v1/api_keys_pb.ts';
import type { AuditService } from '#gen/postrider/workspaces/v1/audit_pb.ts';
import type { DeletionService } from '#gen/postrider/workspaces/v1/deletion_pb.ts';
import type { DomainPageService, DomainService } from '#gen/postrider/workspaces/v1/domains_pb.ts';
import type { MemberService } from '#gen/postrider/workspaces/v1/members_pb.ts';
import type { SessionService } from '#gen/postrider/workspaces/v1/sessions_pb.ts';
import type { UsageService } from '#gen/postrider/workspaces/v1/usage_pb.ts';
import type {
  UserService,
  WorkspaceDirectoryService,
  WorkspaceService,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Verified } from '#lib/keys/tokens.ts';
import type { Log } from '#lib/log.ts';
import type { Egress } from '#lib/outside/egress.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { DataService, UsageCounter } from './deletion/erase.ts';
import type { DnsServer } from './domain-checks/dns.ts';
import type { Algorithm } from './domains/domain.ts';
import type { SigningPair } from './domains/keys.ts';
import type { RecordTargets } from './domains/records.ts';
import type { SetupLinks } from './domains/setup-link.ts';
import type { MailSettings } from './integrations/mail-settings.ts';
import type { IntegrationUses } from './integrations/uses.ts';
import type { LastUse } from './keys/last-use.ts';
import type { Credentials } from './keys/sealed.ts';
import type { SystemMailer } from './mail/send.ts';
import type { QuotaSettings } from './quotas/quotas.ts';

/** The dependencies of operations. */
export type Context = {
  store: Store;
  keyring: Keyring;
  egress: Egress;
  lastUse: LastUse;
  /** The services that keep data of workspaces, by name. */
  dataServices: Record<string, DataService>;
  /** The same, for what they keep under quotas. */
  usageCounters: Record<string, UsageCounter>;
  /** The services whose work is bound to integrations, by name. */
  integrationUses: Readonly<Record<string, IntegrationUses>>;
  systemMail: SystemMailer;
  credentials: Credentials;
  mailSettings: MailSettings;
  now: () => Date;
  /** Addresses that may sign in as root, in lower case. */
  rootEmails: readonly string[];
  /** Root sign-ins of an address with right signatures, in five minutes. */
  rootSignInsMax: number;
  /** SECRET_KEY: the first is in use, the others are old. */
  secretKeys: readonly string[];
  /** Verifies tokens of before. */
  verifyOld: (token: string) => Promise<Verified | undefined>;
  /** Of the installation, where they differ from the default. */
  quotas: QuotaSettings;
  log: Pick<Log, 'warn'>;
  /** Base URL of links in mails for workspaces without their own. */
  publicUrl: string;
  /** The hosts that records of domains lead to. */
  installation: RecordTargets;
  /** The DNS servers that records are asked of. */
  dnsServers: readonly DnsServer[];
  /** Makes the pair of a key that signs mails. */
  makePair: (algorithm: Algorithm) => Promise<SigningPair>;
  /** How long a key must be seen before it signs. */
  seenForMs: number;
  setupLinks: SetupLinks;
};

/** The handlers of this service, by RPC. */
export type Methods = ServiceImpl<typeof WorkspaceDirectoryService> &
  ServiceImpl<typeof WorkspaceService> &
  ServiceImpl<typeof APIKeyService> &
  ServiceImpl<typeof SessionService> &
  ServiceImpl<typeof MemberService> &
  ServiceImpl<typeof AuditService> &
  ServiceImpl<typeof DeletionService> &
  ServiceImpl<typeof DomainService> &
  ServiceImpl<typeof DomainPageService> &
  ServiceImpl<typeof UsageService> &
  ServiceImpl<typeof UserService>;
