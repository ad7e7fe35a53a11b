import type { ConnectRouter } from '@connectrpc/connect';
import {
  UserService,
  WorkspaceDirectoryService,
  WorkspaceService,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Context } from './context.ts';
import { authorize } from './operations/authorize.ts';
import { create } from './operations/create.ts';
import { createAPIKey } from './operations/create-api-key.ts';
import { createIntegration } from './operations/create-integration.ts';
import { get } from './operations/get.ts';
import { getEmailHmacKey } from './operations/get-email-hmac-key.ts';
import { getIntegration } from './operations/get-integration.ts';
import { getSettings } from './operations/get-settings.ts';
import { list } from './operations/list.ts';
import { rootSignin } from './operations/root-signin.ts';
import { rotateEmailHmacKey } from './operations/rotate-email-hmac-key.ts';
import { update } from './operations/update.ts';
import { updateIntegration } from './operations/update-integration.ts';

export const services = [UserService, WorkspaceService, WorkspaceDirectoryService];

/** Who people are and what they may do: users, sessions, workspaces, members, integrations. */
export function workspacesRoutes(context: Context) {
  return (router: ConnectRouter): void => {
    router.service(UserService, {
      signInRoot: rootSignin(context),
    });
    router.service(WorkspaceService, {
      listWorkspaces: list(context),
      getWorkspace: get(context),
      createWorkspace: create(context),
      updateWorkspace: update(context),
      createAPIKey: createAPIKey(context),
      createIntegration: createIntegration(context),
      updateIntegration: updateIntegration(context),
      getEmailHmacKey: getEmailHmacKey(context),
      rotateEmailHmacKey: rotateEmailHmacKey(context),
    });
    router.service(WorkspaceDirectoryService, {
      authorize: authorize(context),
      getSettings: getSettings(context),
      getIntegration: getIntegration(context),
    });
  };
}
