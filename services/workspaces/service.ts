import type { ConnectRouter } from '@connectrpc/connect';
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
import type { Context } from './context.ts';
import { acceptInvitation } from './operations/accept-invitation.ts';
import { authorize } from './operations/authorize.ts';
import { createAPIKey } from './operations/create-api-key.ts';
import { createDomain } from './operations/create-domain.ts';
import { createIntegration } from './operations/create-integration.ts';
import { createWorkspace } from './operations/create-workspace.ts';
import { deleteDomain } from './operations/delete-domain.ts';
import { deleteIntegration } from './operations/delete-integration.ts';
import { deleteInvitation } from './operations/delete-invitation.ts';
import { deleteWorkspace } from './operations/delete-workspace.ts';
import { findSender } from './operations/find-sender.ts';
import { getDeletion } from './operations/get-deletion.ts';
import { getDomain } from './operations/get-domain.ts';
import { getDomainPage } from './operations/get-domain-page.ts';
import { getEmailHmacKey } from './operations/get-email-hmac-key.ts';
import { getIntegration } from './operations/get-integration.ts';
import { getMe } from './operations/get-me.ts';
import { getOldBoxKeys } from './operations/get-old-box-keys.ts';
import { getQuotas } from './operations/get-quotas.ts';
import { getSettings } from './operations/get-settings.ts';
import { getUsage } from './operations/get-usage.ts';
import { getWorkspace } from './operations/get-workspace.ts';
import { inviteMember } from './operations/invite-member.ts';
import { listAPIKeys } from './operations/list-api-keys.ts';
import { listAuditLog } from './operations/list-audit-log.ts';
import { listDomains } from './operations/list-domains.ts';
import { listMembers } from './operations/list-members.ts';
import { listOwners } from './operations/list-owners.ts';
import { listSendingDomains } from './operations/list-sending-domains.ts';
import { listSessions } from './operations/list-sessions.ts';
import { listWorkspaces } from './operations/list-workspaces.ts';
import { logout } from './operations/logout.ts';
import { recordAuditEntries } from './operations/record-audit-entries.ts';
import { removeMember } from './operations/remove-member.ts';
import { reportQuotaUse } from './operations/report-quota-use.ts';
import { reportUsage } from './operations/report-usage.ts';
import { revokeAPIKey } from './operations/revoke-api-key.ts';
import { revokeSession } from './operations/revoke-session.ts';
import { rotateAPIKey } from './operations/rotate-api-key.ts';
import { rotateDomainKey } from './operations/rotate-domain-key.ts';
import { rotateEmailHmacKey } from './operations/rotate-email-hmac-key.ts';
import { setQuotas } from './operations/set-quotas.ts';
import { setUserPermissions } from './operations/set-user-permissions.ts';
import { signIn } from './operations/sign-in.ts';
import { signInRoot } from './operations/sign-in-root.ts';
import { transferOwnership } from './operations/transfer-ownership.ts';
import { updateDomain } from './operations/update-domain.ts';
import { updateIntegration } from './operations/update-integration.ts';
import { updateWorkspace } from './operations/update-workspace.ts';
import { verifyCode } from './operations/verify-code.ts';
import { verifyDomain } from './operations/verify-domain.ts';
import { verifyDomainByPage } from './operations/verify-domain-by-page.ts';

export const services = [
  UserService,
  SessionService,
  WorkspaceService,
  APIKeyService,
  MemberService,
  AuditService,
  DeletionService,
  DomainService,
  DomainPageService,
  UsageService,
  WorkspaceDirectoryService,
];

/** Identity and permissions: users, sessions, workspaces, members, integrations, domains. */
export function workspacesRoutes(context: Context) {
  return (router: ConnectRouter): void => {
    router.service(UserService, {
      signInRoot: signInRoot(context),
    });
    router.service(SessionService, {
      signIn: signIn(context),
      verifyCode: verifyCode(context),
      getMe: getMe(context),
      logout: logout(context),
      listSessions: listSessions(context),
      revokeSession: revokeSession(context),
    });
    router.service(WorkspaceService, {
      listWorkspaces: listWorkspaces(context),
      getWorkspace: getWorkspace(context),
      createWorkspace: createWorkspace(context),
      updateWorkspace: updateWorkspace(context),
      createAPIKey: createAPIKey(context),
      createIntegration: createIntegration(context),
      updateIntegration: updateIntegration(context),
      deleteIntegration: deleteIntegration(context),
      getEmailHmacKey: getEmailHmacKey(context),
      rotateEmailHmacKey: rotateEmailHmacKey(context),
    });
    router.service(APIKeyService, {
      listAPIKeys: listAPIKeys(context),
      revokeAPIKey: revokeAPIKey(context),
      rotateAPIKey: rotateAPIKey(context),
    });
    router.service(MemberService, {
      listMembers: listMembers(context),
      inviteMember: inviteMember(context),
      deleteInvitation: deleteInvitation(context),
      acceptInvitation: acceptInvitation(context),
      removeMember: removeMember(context),
      setUserPermissions: setUserPermissions(context),
      transferOwnership: transferOwnership(context),
    });
    router.service(AuditService, {
      listAuditLog: listAuditLog(context),
      recordAuditEntries: recordAuditEntries(context),
    });
    router.service(DeletionService, {
      deleteWorkspace: deleteWorkspace(context),
      getDeletion: getDeletion(context),
    });
    router.service(DomainService, {
      listDomains: listDomains(context),
      getDomain: getDomain(context),
      createDomain: createDomain(context),
      updateDomain: updateDomain(context),
      verifyDomain: verifyDomain(context),
      rotateDomainKey: rotateDomainKey(context),
      deleteDomain: deleteDomain(context),
    });
    router.service(DomainPageService, {
      getDomainPage: getDomainPage(context),
      verifyDomainByPage: verifyDomainByPage(context),
    });
    router.service(UsageService, {
      getUsage: getUsage(context),
      setQuotas: setQuotas(context),
    });
    router.service(WorkspaceDirectoryService, {
      authorize: authorize(context),
      getSettings: getSettings(context),
      listOwners: listOwners(context),
      findSender: findSender(context),
      getIntegration: getIntegration(context),
      listSendingDomains: listSendingDomains(context),
      reportUsage: reportUsage(context),
      getQuotas: getQuotas(context),
      reportQuotaUse: reportQuotaUse(context),
      getOldBoxKeys: getOldBoxKeys(context),
    });
  };
}
