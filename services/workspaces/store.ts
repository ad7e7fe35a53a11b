import { openStore, type Store } from '#lib/postgres/store.ts';
import { Domain, DomainKey } from './domains/domain.ts';
import { Integration } from './integration.ts';
import { Initial } from './migrations/m0001-initial.ts';
import { EmailHmacKey } from './migrations/m0002-email-hmac-key.ts';
import { KeyNames } from './migrations/m0003-key-names.ts';
import { APIKeys } from './migrations/m0004-api-keys.ts';
import { SignInCodes } from './migrations/m0005-sign-in-codes.ts';
import { Invitations } from './migrations/m0006-invitations.ts';
import { Audit } from './migrations/m0007-audit.ts';
import { RequestUsage } from './migrations/m0008-request-usage.ts';
import { Quotas } from './migrations/m0009-quotas.ts';
import { MailedCodes } from './migrations/m0010-mailed-codes.ts';
import { Domains } from './migrations/m0011-domains.ts';
import { Session, User } from './user.ts';
import { Member, Workspace } from './workspace.ts';

export function openWorkspacesStore(url: string, connectionsMax?: number): Promise<Store> {
  return openStore({
    name: 'workspaces',
    url,
    connectionsMax,
    entities: [User, Session, Workspace, Member, Integration, Domain, DomainKey],
    migrations: {
      'm0001-initial': Initial,
      'm0002-email-hmac-key': EmailHmacKey,
      'm0003-key-names': KeyNames,
      'm0004-api-keys': APIKeys,
      'm0005-sign-in-codes': SignInCodes,
      'm0006-invitations': Invitations,
      'm0007-audit': Audit,
      'm0008-request-usage': RequestUsage,
      'm0009-quotas': Quotas,
      'm0010-mailed-codes': MailedCodes,
      'm0011-domains': Domains,
    },
  });
}
