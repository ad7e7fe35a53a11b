// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import { pages } from '../pages.ts';
import type * as types from './types.ts';

export type WorkspacesListQuery = Record<string, never>;

export type WorkspacesGetQuery = {
  /** The workspace's id. */
  id: string;
};

export type WorkspacesGetEmailHmacKeyQuery = {
  /** The workspace. */
  workspace_id: string;
};

export type WorkspacesListAPIKeysQuery = {
  /** The workspace. */
  workspace_id: string;
};

export type WorkspacesMembersQuery = {
  /** The workspace's id. */
  id: string;
};

export type WorkspacesAuditLogQuery = {
  /** The workspace. */
  workspace_id: string;
  /** Only entries of this user, API key or service, by id. */
  actor_id?: string;
  /** Only entries of this operation, such as `broadcasts.schedule`. */
  action?: string;
  /** Only entries of this time or later. */
  since?: string;
  /** Only entries from before this time. */
  until?: string;
  /** 1 to 1,000; 50 if absent. */
  limit?: number;
  /** `next_cursor` of the page before; empty for the first. */
  cursor?: string;
};

export type WorkspacesDeletionQuery = {
  /** The workspace's id. */
  id: string;
};

export type WorkspacesUsageQuery = {
  /** The workspace. */
  workspace_id: string;
};

/** Keeps workspaces (tenants), their members, API keys and integrations. */
export class Workspaces {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Lists the workspaces that the caller is a member of, by id; root users see all of them. At most
   * 1,000.
   */
  list(
    request: InWorkspace<WorkspacesListQuery> = {},
    options?: RequestOptions,
  ): Promise<Array<types.Workspace>> {
    return this.#http.call({ verb: 'GET', path: '/api/workspaces.list' }, request, options);
  }

  /** Reads one workspace. Provider credentials are never part of the answer. */
  get(
    request: InWorkspace<WorkspacesGetQuery>,
    options?: RequestOptions,
  ): Promise<types.GetWorkspaceResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/workspaces.get' }, request, options);
  }

  /** Creates a workspace with the caller as its owner. */
  create(
    request: InWorkspace<types.CreateWorkspaceRequest>,
    options?: RequestOptions,
  ): Promise<types.Workspace> {
    return this.#http.call({ verb: 'POST', path: '/api/workspaces.create' }, request, options);
  }

  /**
   * Replaces a workspace's name, and changes the given settings. A setting that is absent stays as
   * it is; one that is null gets its default. Integrations are not touched.
   */
  update(
    request: InWorkspace<types.UpdateWorkspaceRequest>,
    options?: RequestOptions,
  ): Promise<types.Workspace> {
    return this.#http.call({ verb: 'POST', path: '/api/workspaces.update' }, request, options);
  }

  /** Creates an API key. Its token is shown only in this answer. */
  createAPIKey(
    request: InWorkspace<types.CreateAPIKeyRequest>,
    options?: RequestOptions,
  ): Promise<types.CreateAPIKeyResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/workspaces.createAPIKey' },
      request,
      options,
    );
  }

  /**
   * Adds an email integration. Credentials are encrypted at rest and never returned. The first
   * integration of a workspace becomes the provider of marketing and of transactional mail, where
   * the settings name none.
   */
  createIntegration(
    request: InWorkspace<types.CreateIntegrationRequest>,
    options?: RequestOptions,
  ): Promise<types.CreateIntegrationResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/workspaces.createIntegration', keyed: true },
      request,
      options,
    );
  }

  /**
   * Replaces an email integration. An empty password keeps the stored one, as long as host, port and
   * username are the same; with others it must be given.
   */
  updateIntegration(
    request: InWorkspace<types.UpdateIntegrationRequest>,
    options?: RequestOptions,
  ): Promise<types.UpdateIntegrationResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/workspaces.updateIntegration' },
      request,
      options,
    );
  }

  /**
   * Deletes an email integration with its credentials. It is refused while anything is to be sent
   * through it: a broadcast that has begun and is not over, or transactional messages in the queue.
   * A paused broadcast moves to the provider in the settings when it is resumed.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  deleteIntegration(
    request: InWorkspace<types.DeleteIntegrationRequest>,
    options?: RequestOptions,
  ): Promise<types.DeleteIntegrationResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/workspaces.deleteIntegration' },
      request,
      options,
    );
  }

  /**
   * Reads the key of `email_hmac`, with which a site proves that one of its users asked to
   * subscribe.
   */
  getEmailHmacKey(
    request: InWorkspace<WorkspacesGetEmailHmacKeyQuery> = {},
    options?: RequestOptions,
  ): Promise<types.GetEmailHmacKeyResponse> {
    return this.#http.call(
      { verb: 'GET', path: '/api/workspaces.getEmailHmacKey' },
      request,
      options,
    );
  }

  /**
   * Replaces the key of `email_hmac`; signatures with the old key are no longer accepted. Links in
   * mails don't depend on it. Takes effect everywhere within a second.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  rotateEmailHmacKey(
    request: InWorkspace<types.RotateEmailHmacKeyRequest> = {},
    options?: RequestOptions,
  ): Promise<types.RotateEmailHmacKeyResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/workspaces.rotateEmailHmacKey' },
      request,
      options,
    );
  }

  /**
   * Lists the API keys of a workspace, the newest first, expired ones as well. At most 1,000. Tokens
   * are never shown.
   */
  listAPIKeys(
    request: InWorkspace<WorkspacesListAPIKeysQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListAPIKeysResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/workspaces.listAPIKeys' }, request, options);
  }

  /**
   * Deletes an API key. All its tokens are refused within 2 seconds, at the gateway and on the gRPC
   * ports of all services.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  revokeAPIKey(
    request: InWorkspace<types.RevokeAPIKeyRequest>,
    options?: RequestOptions,
  ): Promise<types.RevokeAPIKeyResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/workspaces.revokeAPIKey' },
      request,
      options,
    );
  }

  /**
   * Gives an API key a new token, which is shown only in this answer. The earlier tokens stay valid
   * for the overlap, unless they end before. Name, permissions, addresses and end of the key stay.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  rotateAPIKey(
    request: InWorkspace<types.RotateAPIKeyRequest>,
    options?: RequestOptions,
  ): Promise<types.RotateAPIKeyResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/workspaces.rotateAPIKey' },
      request,
      options,
    );
  }

  /**
   * Lists the members, the owner first, then by the time they joined, and after them the invitations
   * that are open, which have no `user_id`. At most 2,000 of either.
   */
  members(
    request: InWorkspace<WorkspacesMembersQuery>,
    options?: RequestOptions,
  ): Promise<types.ListMembersResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/workspaces.members' }, request, options);
  }

  /**
   * Invites an address, and mails it a token that is valid for 7 days. Inviting an address again
   * replaces the token of the open invitation. The mail goes through the operator's server
   * (`SYSTEM_SMTP_URL`); where that is not set, no mail is sent.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  inviteMember(
    request: InWorkspace<types.InviteMemberRequest>,
    options?: RequestOptions,
  ): Promise<types.InviteMemberResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/workspaces.inviteMember' },
      request,
      options,
    );
  }

  /** Withdraws an invitation: its token is void. */
  deleteInvitation(
    request: InWorkspace<types.DeleteInvitationRequest>,
    options?: RequestOptions,
  ): Promise<types.DeleteInvitationResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/workspaces.deleteInvitation' },
      request,
      options,
    );
  }

  /**
   * Makes the caller a member of the workspace that it is invited to. The token works once, and only
   * for a person who is signed in with the invited address (`user.signIn`).
   */
  acceptInvitation(
    request: InWorkspace<types.AcceptInvitationRequest>,
    options?: RequestOptions,
  ): Promise<types.AcceptInvitationResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/workspaces.acceptInvitation' },
      request,
      options,
    );
  }

  /**
   * Removes a member, who has no access any more within 2 seconds. An API key is revoked by it.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  removeMember(
    request: InWorkspace<types.RemoveMemberRequest>,
    options?: RequestOptions,
  ): Promise<types.RemoveMemberResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/workspaces.removeMember' },
      request,
      options,
    );
  }

  /** Replaces the permissions of a member, or of an API key. They count within 2 seconds. */
  setUserPermissions(
    request: InWorkspace<types.SetUserPermissionsRequest>,
    options?: RequestOptions,
  ): Promise<types.SetUserPermissionsResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/workspaces.setUserPermissions' },
      request,
      options,
    );
  }

  /**
   * Makes another member the owner. The caller stays a member with all permissions.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  transferOwnership(
    request: InWorkspace<types.TransferOwnershipRequest>,
    options?: RequestOptions,
  ): Promise<types.TransferOwnershipResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/workspaces.transferOwnership' },
      request,
      options,
    );
  }

  /**
   * Lists who changed what, newest first, by pages of at most 1 MiB. A change of the workspace
   * itself, its members, keys and integrations is listed when it is answered; changes of anything
   * else appear within seconds.
   *
   * Listed are changes of settings, members, API keys, integrations, lists, segments, templates,
   * template blocks, broadcasts, notifications and webhooks, sign-ins and sign-outs of members,
   * deleted contacts, memberships that were set or removed one by one, test sends, tests of feeds
   * and webhooks, exports, lists of people that were read beyond the first page (once an hour for
   * each caller), and holds of the whole installation. Not listed are writes of data, which are too
   * many: contacts, imports, custom events, subscriptions and messages.
   */
  auditLog(
    request: InWorkspace<WorkspacesAuditLogQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListAuditLogResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/workspaces.auditLog' }, request, options);
  }

  /** The items of all pages of `auditLog`, each asked for as it is needed. */
  auditLogAll(
    request: InWorkspace<Omit<WorkspacesAuditLogQuery, 'cursor'>> = {},
    options?: RequestOptions,
  ): AsyncGenerator<types.AuditEntry, void, undefined> {
    return pages(async (cursor) => {
      const answer = await this.auditLog(
        { ...request, ...(cursor === undefined ? {} : { cursor }) },
        options,
      );
      return { items: answer.entries, next: answer.next_cursor };
    });
  }

  /**
   * Deletes a workspace. Its keys, members, pages, forms and links are refused, and its broadcasts
   * stop, within 2 seconds. Then everything that any service keeps of it is erased in the
   * background; `workspaces.deletion` says when that is done, at the earliest 11 minutes later. The
   * id can be used again after that. There is no way back.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  delete(
    request: InWorkspace<types.DeleteWorkspaceRequest>,
    options?: RequestOptions,
  ): Promise<types.DeleteWorkspaceResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/workspaces.delete' }, request, options);
  }

  /**
   * Says how far the latest deletion of a workspace is, to the person who deleted it and to root
   * users.
   */
  deletion(
    request: InWorkspace<WorkspacesDeletionQuery>,
    options?: RequestOptions,
  ): Promise<types.GetDeletionResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/workspaces.deletion' }, request, options);
  }

  /**
   * Lists what a workspace has stored or waiting, with its quota of each. Resources that take long
   * to count were counted a while ago: `counted_at` says when.
   */
  usage(
    request: InWorkspace<WorkspacesUsageQuery> = {},
    options?: RequestOptions,
  ): Promise<types.GetUsageResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/workspaces.usage' }, request, options);
  }

  /**
   * Replaces the quotas that a workspace has of its own. A resource that is not named has the quota
   * of the installation. A quota below what is stored deletes nothing; more is refused. Takes effect
   * everywhere within a minute.
   */
  setQuotas(
    request: InWorkspace<types.SetQuotasRequest> = {},
    options?: RequestOptions,
  ): Promise<types.SetQuotasResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/workspaces.setQuotas' }, request, options);
  }
}
