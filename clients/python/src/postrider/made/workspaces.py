# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_LIST = Operation("GET", "/api/workspaces.list")
_GET = Operation("GET", "/api/workspaces.get")
_CREATE = Operation("POST", "/api/workspaces.create")
_UPDATE = Operation("POST", "/api/workspaces.update")
_CREATE_APIKEY = Operation("POST", "/api/workspaces.createAPIKey")
_CREATE_INTEGRATION = Operation("POST", "/api/workspaces.createIntegration", keyed=True)
_UPDATE_INTEGRATION = Operation("POST", "/api/workspaces.updateIntegration")
_DELETE_INTEGRATION = Operation("POST", "/api/workspaces.deleteIntegration")
_GET_EMAIL_HMAC_KEY = Operation("GET", "/api/workspaces.getEmailHmacKey")
_ROTATE_EMAIL_HMAC_KEY = Operation("POST", "/api/workspaces.rotateEmailHmacKey")
_LIST_APIKEYS = Operation("GET", "/api/workspaces.listAPIKeys")
_REVOKE_APIKEY = Operation("POST", "/api/workspaces.revokeAPIKey")
_ROTATE_APIKEY = Operation("POST", "/api/workspaces.rotateAPIKey")
_MEMBERS = Operation("GET", "/api/workspaces.members")
_INVITE_MEMBER = Operation("POST", "/api/workspaces.inviteMember")
_DELETE_INVITATION = Operation("POST", "/api/workspaces.deleteInvitation")
_ACCEPT_INVITATION = Operation("POST", "/api/workspaces.acceptInvitation")
_REMOVE_MEMBER = Operation("POST", "/api/workspaces.removeMember")
_SET_USER_PERMISSIONS = Operation("POST", "/api/workspaces.setUserPermissions")
_TRANSFER_OWNERSHIP = Operation("POST", "/api/workspaces.transferOwnership")
_AUDIT_LOG = Operation("GET", "/api/workspaces.auditLog")
_DELETE = Operation("POST", "/api/workspaces.delete")
_DELETION = Operation("GET", "/api/workspaces.deletion")
_USAGE = Operation("GET", "/api/workspaces.usage")
_SET_QUOTAS = Operation("POST", "/api/workspaces.setQuotas")


class WorkspacesListQuery(t.TypedDict):
    pass


class WorkspacesGetQuery(t.TypedDict):
    id: str
    """The workspace's id."""


class WorkspacesGetEmailHmacKeyQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""


class WorkspacesListAPIKeysQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""


class WorkspacesMembersQuery(t.TypedDict):
    id: str
    """The workspace's id."""


class WorkspacesAuditLogQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    actor_id: NotRequired[str]
    """Only entries of this user, API key or service, by id."""

    action: NotRequired[str]
    """Only entries of this operation, such as `broadcasts.schedule`."""

    since: NotRequired[str]
    """Only entries of this time or later."""

    until: NotRequired[str]
    """Only entries from before this time."""

    limit: NotRequired[int]
    """1 to 1,000; 50 if absent."""

    cursor: NotRequired[str]
    """`next_cursor` of the page before; empty for the first."""


class WorkspacesDeletionQuery(t.TypedDict):
    id: str
    """The workspace's id."""


class WorkspacesUsageQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""


class Workspaces:
    """Keeps workspaces (tenants), their members, API keys and integrations."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesListQuery],
    ) -> t.List[types.Workspace]:
        """
        Lists the workspaces that the caller is a member of, by id; root users see all of them. At
        most 1,000.
        """
        answer: t.List[types.Workspace] = self._http.call(_LIST, request, options)
        return answer

    def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesGetQuery],
    ) -> types.GetWorkspaceResponse:
        """Reads one workspace. Provider credentials are never part of the answer."""
        answer: types.GetWorkspaceResponse = self._http.call(_GET, request, options)
        return answer

    def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateWorkspaceRequest],
    ) -> types.Workspace:
        """Creates a workspace with the caller as its owner."""
        answer: types.Workspace = self._http.call(_CREATE, request, options)
        return answer

    def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateWorkspaceRequest],
    ) -> types.Workspace:
        """
        Replaces a workspace's name, and changes the given settings. A setting that is absent stays
        as it is; one that is null gets its default. Integrations are not touched.
        """
        answer: types.Workspace = self._http.call(_UPDATE, request, options)
        return answer

    def create_apikey(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateAPIKeyRequest],
    ) -> types.CreateAPIKeyResponse:
        """Creates an API key. Its token is shown only in this answer."""
        answer: types.CreateAPIKeyResponse = self._http.call(_CREATE_APIKEY, request, options)
        return answer

    def create_integration(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateIntegrationRequest],
    ) -> types.CreateIntegrationResponse:
        """
        Adds an email integration. Credentials are encrypted at rest and never returned. The first
        integration of a workspace becomes the provider of marketing and of transactional mail,
        where the settings name none.
        """
        answer: types.CreateIntegrationResponse = self._http.call(
            _CREATE_INTEGRATION, request, options
        )
        return answer

    def update_integration(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateIntegrationRequest],
    ) -> types.UpdateIntegrationResponse:
        """
        Replaces an email integration. An empty password keeps the stored one, as long as host,
        port and username are the same; with others it must be given.
        """
        answer: types.UpdateIntegrationResponse = self._http.call(
            _UPDATE_INTEGRATION, request, options
        )
        return answer

    def delete_integration(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteIntegrationRequest],
    ) -> types.DeleteIntegrationResponse:
        """
        Deletes an email integration with its credentials. It is refused while anything is to be
        sent through it: a broadcast that has begun and is not over, or transactional messages in
        the queue. A paused broadcast moves to the provider in the settings when it is resumed.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.DeleteIntegrationResponse = self._http.call(
            _DELETE_INTEGRATION, request, options
        )
        return answer

    def get_email_hmac_key(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesGetEmailHmacKeyQuery],
    ) -> types.GetEmailHmacKeyResponse:
        """
        Reads the key of `email_hmac`, with which a site proves that one of its users asked to
        subscribe.
        """
        answer: types.GetEmailHmacKeyResponse = self._http.call(
            _GET_EMAIL_HMAC_KEY, request, options
        )
        return answer

    def rotate_email_hmac_key(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RotateEmailHmacKeyRequest],
    ) -> types.RotateEmailHmacKeyResponse:
        """
        Replaces the key of `email_hmac`; signatures with the old key are no longer accepted. Links
        in mails don't depend on it. Takes effect everywhere within a second.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.RotateEmailHmacKeyResponse = self._http.call(
            _ROTATE_EMAIL_HMAC_KEY, request, options
        )
        return answer

    def list_apikeys(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesListAPIKeysQuery],
    ) -> types.ListAPIKeysResponse:
        """
        Lists the API keys of a workspace, the newest first, expired ones as well. At most 1,000.
        Tokens are never shown.
        """
        answer: types.ListAPIKeysResponse = self._http.call(_LIST_APIKEYS, request, options)
        return answer

    def revoke_apikey(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RevokeAPIKeyRequest],
    ) -> types.RevokeAPIKeyResponse:
        """
        Deletes an API key. All its tokens are refused within 2 seconds, at the gateway and on the
        gRPC ports of all services.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.RevokeAPIKeyResponse = self._http.call(_REVOKE_APIKEY, request, options)
        return answer

    def rotate_apikey(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RotateAPIKeyRequest],
    ) -> types.RotateAPIKeyResponse:
        """
        Gives an API key a new token, which is shown only in this answer. The earlier tokens stay
        valid for the overlap, unless they end before. Name, permissions, addresses and end of the
        key stay.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.RotateAPIKeyResponse = self._http.call(_ROTATE_APIKEY, request, options)
        return answer

    def members(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesMembersQuery],
    ) -> types.ListMembersResponse:
        """
        Lists the members, the owner first, then by the time they joined, and after them the
        invitations that are open, which have no `user_id`. At most 2,000 of either.
        """
        answer: types.ListMembersResponse = self._http.call(_MEMBERS, request, options)
        return answer

    def invite_member(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.InviteMemberRequest],
    ) -> types.InviteMemberResponse:
        """
        Invites an address, and mails it a token that is valid for 7 days. Inviting an address
        again replaces the token of the open invitation. The mail goes through the operator's
        server (`SYSTEM_SMTP_URL`); where that is not set, no mail is sent.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.InviteMemberResponse = self._http.call(_INVITE_MEMBER, request, options)
        return answer

    def delete_invitation(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteInvitationRequest],
    ) -> types.DeleteInvitationResponse:
        """Withdraws an invitation: its token is void."""
        answer: types.DeleteInvitationResponse = self._http.call(
            _DELETE_INVITATION, request, options
        )
        return answer

    def accept_invitation(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.AcceptInvitationRequest],
    ) -> types.AcceptInvitationResponse:
        """
        Makes the caller a member of the workspace that it is invited to. The token works once, and
        only for a person who is signed in with the invited address (`user.signIn`).
        """
        answer: types.AcceptInvitationResponse = self._http.call(
            _ACCEPT_INVITATION, request, options
        )
        return answer

    def remove_member(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RemoveMemberRequest],
    ) -> types.RemoveMemberResponse:
        """
        Removes a member, who has no access any more within 2 seconds. An API key is revoked by it.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.RemoveMemberResponse = self._http.call(_REMOVE_MEMBER, request, options)
        return answer

    def set_user_permissions(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SetUserPermissionsRequest],
    ) -> types.SetUserPermissionsResponse:
        """Replaces the permissions of a member, or of an API key. They count within 2 seconds."""
        answer: types.SetUserPermissionsResponse = self._http.call(
            _SET_USER_PERMISSIONS, request, options
        )
        return answer

    def transfer_ownership(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.TransferOwnershipRequest],
    ) -> types.TransferOwnershipResponse:
        """
        Makes another member the owner. The caller stays a member with all permissions.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.TransferOwnershipResponse = self._http.call(
            _TRANSFER_OWNERSHIP, request, options
        )
        return answer

    def audit_log(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesAuditLogQuery],
    ) -> types.ListAuditLogResponse:
        """
        Lists who changed what, newest first, by pages of at most 1 MiB. A change of the workspace
        itself, its members, keys and integrations is listed when it is answered; changes of
        anything else appear within seconds.

        Listed are changes of settings, members, API keys, integrations, lists, segments,
        templates, template blocks, broadcasts, notifications and webhooks, sign-ins and sign-outs
        of members, deleted contacts, memberships that were set or removed one by one, test sends,
        tests of feeds and webhooks, exports, lists of people that were read beyond the first page
        (once an hour for each caller), and holds of the whole installation. Not listed are writes
        of data, which are too many: contacts, imports, custom events, subscriptions and messages.
        """
        answer: types.ListAuditLogResponse = self._http.call(_AUDIT_LOG, request, options)
        return answer

    def audit_log_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesAuditLogQuery],
    ) -> t.Iterator[types.AuditEntry]:
        """The items of all pages of `audit_log`, each page asked for as it is needed."""
        return self._http.pages(_AUDIT_LOG, request, options, "entries")

    def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteWorkspaceRequest],
    ) -> types.DeleteWorkspaceResponse:
        """
        Deletes a workspace. Its keys, members, pages, forms and links are refused, and its
        broadcasts stop, within 2 seconds. Then everything that any service keeps of it is erased
        in the background; `workspaces.deletion` says when that is done, at the earliest 11 minutes
        later. The id can be used again after that. There is no way back.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.DeleteWorkspaceResponse = self._http.call(_DELETE, request, options)
        return answer

    def deletion(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesDeletionQuery],
    ) -> types.GetDeletionResponse:
        """
        Says how far the latest deletion of a workspace is, to the person who deleted it and to
        root users.
        """
        answer: types.GetDeletionResponse = self._http.call(_DELETION, request, options)
        return answer

    def usage(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesUsageQuery],
    ) -> types.GetUsageResponse:
        """
        Lists what a workspace has stored or waiting, with its quota of each. Resources that take
        long to count were counted a while ago: `counted_at` says when.
        """
        answer: types.GetUsageResponse = self._http.call(_USAGE, request, options)
        return answer

    def set_quotas(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SetQuotasRequest],
    ) -> types.SetQuotasResponse:
        """
        Replaces the quotas that a workspace has of its own. A resource that is not named has the
        quota of the installation. A quota below what is stored deletes nothing; more is refused.
        Takes effect everywhere within a minute.
        """
        answer: types.SetQuotasResponse = self._http.call(_SET_QUOTAS, request, options)
        return answer


class AsyncWorkspaces:
    """Keeps workspaces (tenants), their members, API keys and integrations."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesListQuery],
    ) -> t.List[types.Workspace]:
        """
        Lists the workspaces that the caller is a member of, by id; root users see all of them. At
        most 1,000.
        """
        answer: t.List[types.Workspace] = await self._http.call(_LIST, request, options)
        return answer

    async def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesGetQuery],
    ) -> types.GetWorkspaceResponse:
        """Reads one workspace. Provider credentials are never part of the answer."""
        answer: types.GetWorkspaceResponse = await self._http.call(_GET, request, options)
        return answer

    async def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateWorkspaceRequest],
    ) -> types.Workspace:
        """Creates a workspace with the caller as its owner."""
        answer: types.Workspace = await self._http.call(_CREATE, request, options)
        return answer

    async def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateWorkspaceRequest],
    ) -> types.Workspace:
        """
        Replaces a workspace's name, and changes the given settings. A setting that is absent stays
        as it is; one that is null gets its default. Integrations are not touched.
        """
        answer: types.Workspace = await self._http.call(_UPDATE, request, options)
        return answer

    async def create_apikey(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateAPIKeyRequest],
    ) -> types.CreateAPIKeyResponse:
        """Creates an API key. Its token is shown only in this answer."""
        answer: types.CreateAPIKeyResponse = await self._http.call(_CREATE_APIKEY, request, options)
        return answer

    async def create_integration(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateIntegrationRequest],
    ) -> types.CreateIntegrationResponse:
        """
        Adds an email integration. Credentials are encrypted at rest and never returned. The first
        integration of a workspace becomes the provider of marketing and of transactional mail,
        where the settings name none.
        """
        answer: types.CreateIntegrationResponse = await self._http.call(
            _CREATE_INTEGRATION, request, options
        )
        return answer

    async def update_integration(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateIntegrationRequest],
    ) -> types.UpdateIntegrationResponse:
        """
        Replaces an email integration. An empty password keeps the stored one, as long as host,
        port and username are the same; with others it must be given.
        """
        answer: types.UpdateIntegrationResponse = await self._http.call(
            _UPDATE_INTEGRATION, request, options
        )
        return answer

    async def delete_integration(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteIntegrationRequest],
    ) -> types.DeleteIntegrationResponse:
        """
        Deletes an email integration with its credentials. It is refused while anything is to be
        sent through it: a broadcast that has begun and is not over, or transactional messages in
        the queue. A paused broadcast moves to the provider in the settings when it is resumed.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.DeleteIntegrationResponse = await self._http.call(
            _DELETE_INTEGRATION, request, options
        )
        return answer

    async def get_email_hmac_key(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesGetEmailHmacKeyQuery],
    ) -> types.GetEmailHmacKeyResponse:
        """
        Reads the key of `email_hmac`, with which a site proves that one of its users asked to
        subscribe.
        """
        answer: types.GetEmailHmacKeyResponse = await self._http.call(
            _GET_EMAIL_HMAC_KEY, request, options
        )
        return answer

    async def rotate_email_hmac_key(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RotateEmailHmacKeyRequest],
    ) -> types.RotateEmailHmacKeyResponse:
        """
        Replaces the key of `email_hmac`; signatures with the old key are no longer accepted. Links
        in mails don't depend on it. Takes effect everywhere within a second.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.RotateEmailHmacKeyResponse = await self._http.call(
            _ROTATE_EMAIL_HMAC_KEY, request, options
        )
        return answer

    async def list_apikeys(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesListAPIKeysQuery],
    ) -> types.ListAPIKeysResponse:
        """
        Lists the API keys of a workspace, the newest first, expired ones as well. At most 1,000.
        Tokens are never shown.
        """
        answer: types.ListAPIKeysResponse = await self._http.call(_LIST_APIKEYS, request, options)
        return answer

    async def revoke_apikey(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RevokeAPIKeyRequest],
    ) -> types.RevokeAPIKeyResponse:
        """
        Deletes an API key. All its tokens are refused within 2 seconds, at the gateway and on the
        gRPC ports of all services.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.RevokeAPIKeyResponse = await self._http.call(_REVOKE_APIKEY, request, options)
        return answer

    async def rotate_apikey(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RotateAPIKeyRequest],
    ) -> types.RotateAPIKeyResponse:
        """
        Gives an API key a new token, which is shown only in this answer. The earlier tokens stay
        valid for the overlap, unless they end before. Name, permissions, addresses and end of the
        key stay.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.RotateAPIKeyResponse = await self._http.call(_ROTATE_APIKEY, request, options)
        return answer

    async def members(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesMembersQuery],
    ) -> types.ListMembersResponse:
        """
        Lists the members, the owner first, then by the time they joined, and after them the
        invitations that are open, which have no `user_id`. At most 2,000 of either.
        """
        answer: types.ListMembersResponse = await self._http.call(_MEMBERS, request, options)
        return answer

    async def invite_member(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.InviteMemberRequest],
    ) -> types.InviteMemberResponse:
        """
        Invites an address, and mails it a token that is valid for 7 days. Inviting an address
        again replaces the token of the open invitation. The mail goes through the operator's
        server (`SYSTEM_SMTP_URL`); where that is not set, no mail is sent.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.InviteMemberResponse = await self._http.call(_INVITE_MEMBER, request, options)
        return answer

    async def delete_invitation(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteInvitationRequest],
    ) -> types.DeleteInvitationResponse:
        """Withdraws an invitation: its token is void."""
        answer: types.DeleteInvitationResponse = await self._http.call(
            _DELETE_INVITATION, request, options
        )
        return answer

    async def accept_invitation(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.AcceptInvitationRequest],
    ) -> types.AcceptInvitationResponse:
        """
        Makes the caller a member of the workspace that it is invited to. The token works once, and
        only for a person who is signed in with the invited address (`user.signIn`).
        """
        answer: types.AcceptInvitationResponse = await self._http.call(
            _ACCEPT_INVITATION, request, options
        )
        return answer

    async def remove_member(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RemoveMemberRequest],
    ) -> types.RemoveMemberResponse:
        """
        Removes a member, who has no access any more within 2 seconds. An API key is revoked by it.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.RemoveMemberResponse = await self._http.call(_REMOVE_MEMBER, request, options)
        return answer

    async def set_user_permissions(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SetUserPermissionsRequest],
    ) -> types.SetUserPermissionsResponse:
        """Replaces the permissions of a member, or of an API key. They count within 2 seconds."""
        answer: types.SetUserPermissionsResponse = await self._http.call(
            _SET_USER_PERMISSIONS, request, options
        )
        return answer

    async def transfer_ownership(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.TransferOwnershipRequest],
    ) -> types.TransferOwnershipResponse:
        """
        Makes another member the owner. The caller stays a member with all permissions.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.TransferOwnershipResponse = await self._http.call(
            _TRANSFER_OWNERSHIP, request, options
        )
        return answer

    async def audit_log(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesAuditLogQuery],
    ) -> types.ListAuditLogResponse:
        """
        Lists who changed what, newest first, by pages of at most 1 MiB. A change of the workspace
        itself, its members, keys and integrations is listed when it is answered; changes of
        anything else appear within seconds.

        Listed are changes of settings, members, API keys, integrations, lists, segments,
        templates, template blocks, broadcasts, notifications and webhooks, sign-ins and sign-outs
        of members, deleted contacts, memberships that were set or removed one by one, test sends,
        tests of feeds and webhooks, exports, lists of people that were read beyond the first page
        (once an hour for each caller), and holds of the whole installation. Not listed are writes
        of data, which are too many: contacts, imports, custom events, subscriptions and messages.
        """
        answer: types.ListAuditLogResponse = await self._http.call(_AUDIT_LOG, request, options)
        return answer

    def audit_log_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesAuditLogQuery],
    ) -> t.AsyncIterator[types.AuditEntry]:
        """The items of all pages of `audit_log`, each page asked for as it is needed."""
        return self._http.pages(_AUDIT_LOG, request, options, "entries")

    async def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteWorkspaceRequest],
    ) -> types.DeleteWorkspaceResponse:
        """
        Deletes a workspace. Its keys, members, pages, forms and links are refused, and its
        broadcasts stop, within 2 seconds. Then everything that any service keeps of it is erased
        in the background; `workspaces.deletion` says when that is done, at the earliest 11 minutes
        later. The id can be used again after that. There is no way back.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.DeleteWorkspaceResponse = await self._http.call(_DELETE, request, options)
        return answer

    async def deletion(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesDeletionQuery],
    ) -> types.GetDeletionResponse:
        """
        Says how far the latest deletion of a workspace is, to the person who deleted it and to
        root users.
        """
        answer: types.GetDeletionResponse = await self._http.call(_DELETION, request, options)
        return answer

    async def usage(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[WorkspacesUsageQuery],
    ) -> types.GetUsageResponse:
        """
        Lists what a workspace has stored or waiting, with its quota of each. Resources that take
        long to count were counted a while ago: `counted_at` says when.
        """
        answer: types.GetUsageResponse = await self._http.call(_USAGE, request, options)
        return answer

    async def set_quotas(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SetQuotasRequest],
    ) -> types.SetQuotasResponse:
        """
        Replaces the quotas that a workspace has of its own. A resource that is not named has the
        quota of the installation. A quota below what is stored deletes nothing; more is refused.
        Takes effect everywhere within a minute.
        """
        answer: types.SetQuotasResponse = await self._http.call(_SET_QUOTAS, request, options)
        return answer
