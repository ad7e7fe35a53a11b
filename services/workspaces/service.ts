import type { ConnectRouter } from '@connectrpc/connect';
import { APIKeyService } from '#gen/postrider/workspaces/v1/api_keys_pb.ts';
import { SessionService } from '#gen/postrider/workspaces/v1/sessions_pb.ts';
import {
  UserService,
  WorkspaceDirectoryService,
  WorkspaceService,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Context } from './context.ts';
import { authorize } from './operations/authorize.ts';
import { createAPIKey } from './operations/create-api-key.ts';
import { createIntegration } from './operations/create-integration.ts';
import { createWorkspace } from './operations/create-workspace.ts';
import { getEmailHmacKey } from './operations/get-email-hmac-key.ts';
import { getIntegration } from './operations/get-integration.ts';
import { getMe } from './operations/get-me.ts';
import { getSettings } from './operations/get-settings.ts';
import { getWorkspace } from './operations/get-workspace.ts';
import { listAPIKeys } from './operations/list-api-keys.ts';
import { listOwners } from './operations/list-owners.ts';
import { listSessions } from './operations/list-sessions.ts';
import { listWorkspaces } from './operations/list-workspaces.ts';
import { logout } from './operations/logout.ts';
import { revokeAPIKey } from './operations/revoke-api-key.ts';
import { revokeSession } from './operations/revoke-session.ts';
import { rotateAPIKey } from './operations/rotate-api-key.ts';
import { rotateEmailHmacKey } from './operations/rotate-email-hmac-key.ts';
import { signIn } from './operations/sign-in.ts';
import { signInRoot } from './operations/sign-in-root.ts';
import { updateIntegration } from './operations/update-integration.ts';
import { updateWorkspace } from './operations/update-workspace.ts';
import { verifyCode } from './operations/verify-code.ts';

export const services = [
  UserService,
  SessionService,
  WorkspaceService,
  APIKeyService,
  WorkspaceDirectoryService,
];

/** Identity and permissions: users, sessions, workspaces, members, integrations. */
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
      getEmailHmacKey: getEmailHmacKey(context),
      rotateEmailHmacKey: rotateEmailHmacKey(context),
    });
    router.service(APIKeyService, {
      listAPIKeys: listAPIKeys(context),
      revokeAPIKey: revokeAPIKey(context),
      rotateAPIKey: rotateAPIKey(context),
    });
    router.service(WorkspaceDirectoryService, {
      authorize: authorize(context),
      getSettings: getSettings(context),
      listOwners: listOwners(context),
      getIntegration: getIntegration(context),
    });
  };
}
