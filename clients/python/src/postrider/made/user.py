# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import Unpack
from . import types

_ROOT_SIGNIN = Operation("POST", "/api/user.rootSignin")
_SIGN_IN = Operation("POST", "/api/user.signIn")
_VERIFY_CODE = Operation("POST", "/api/user.verifyCode")
_ME = Operation("GET", "/api/user.me")
_LOGOUT = Operation("POST", "/api/user.logout")
_LIST_SESSIONS = Operation("GET", "/api/user.listSessions")
_REVOKE_SESSION = Operation("POST", "/api/user.revokeSession")


class UserMeQuery(t.TypedDict):
    pass


class UserListSessionsQuery(t.TypedDict):
    pass


class User:
    """Signs users in."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def root_signin(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SignInRootRequest],
    ) -> types.SignInRootResponse:
        """
        Signs a configured root user in by a signature over the address and the time, for
        automation.

        A signature works once: a second sign-in within a second needs another timestamp.
        """
        answer: types.SignInRootResponse = self._http.call(_ROOT_SIGNIN, request, options)
        return answer

    def sign_in(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SignInRequest],
    ) -> types.SignInResponse:
        """
        Mails a code of six digits, which is valid for 10 minutes, to a user, a root user or
        somebody who is invited to a workspace. The answer is the same for all other addresses,
        which get no mail. A new code replaces the last one that the same client has asked for. The
        mail goes through the operator's server (`SYSTEM_SMTP_URL`); where that is not set, no code
        is sent. A client is an IPv4 address or a /64 of IPv6.
        """
        answer: types.SignInResponse = self._http.call(_SIGN_IN, request, options)
        return answer

    def verify_code(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.VerifyCodeRequest],
    ) -> types.VerifyCodeResponse:
        """
        Opens a session with a code. A code works once; the client that has asked for it has five
        tries, and all others have three together.
        """
        answer: types.VerifyCodeResponse = self._http.call(_VERIFY_CODE, request, options)
        return answer

    def me(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[UserMeQuery],
    ) -> types.GetMeResponse:
        """
        Reads the caller, who may be an API key, and the workspaces that it is a member of, as
        `ListWorkspaces` does.
        """
        answer: types.GetMeResponse = self._http.call(_ME, request, options)
        return answer

    def logout(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.LogoutRequest],
    ) -> types.LogoutResponse:
        """
        Ends all sessions of the caller; `RevokeSession` ends one. Their tokens are refused within
        2 seconds.
        """
        answer: types.LogoutResponse = self._http.call(_LOGOUT, request, options)
        return answer

    def list_sessions(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[UserListSessionsQuery],
    ) -> types.ListSessionsResponse:
        """
        Lists the caller's sessions that have not expired, the newest first, at most 1,000. API
        keys have none.
        """
        answer: types.ListSessionsResponse = self._http.call(_LIST_SESSIONS, request, options)
        return answer

    def revoke_session(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RevokeSessionRequest],
    ) -> types.RevokeSessionResponse:
        """
        Ends one session of the caller, perhaps its own. Its token is refused within 2 seconds.
        """
        answer: types.RevokeSessionResponse = self._http.call(_REVOKE_SESSION, request, options)
        return answer


class AsyncUser:
    """Signs users in."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def root_signin(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SignInRootRequest],
    ) -> types.SignInRootResponse:
        """
        Signs a configured root user in by a signature over the address and the time, for
        automation.

        A signature works once: a second sign-in within a second needs another timestamp.
        """
        answer: types.SignInRootResponse = await self._http.call(_ROOT_SIGNIN, request, options)
        return answer

    async def sign_in(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SignInRequest],
    ) -> types.SignInResponse:
        """
        Mails a code of six digits, which is valid for 10 minutes, to a user, a root user or
        somebody who is invited to a workspace. The answer is the same for all other addresses,
        which get no mail. A new code replaces the last one that the same client has asked for. The
        mail goes through the operator's server (`SYSTEM_SMTP_URL`); where that is not set, no code
        is sent. A client is an IPv4 address or a /64 of IPv6.
        """
        answer: types.SignInResponse = await self._http.call(_SIGN_IN, request, options)
        return answer

    async def verify_code(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.VerifyCodeRequest],
    ) -> types.VerifyCodeResponse:
        """
        Opens a session with a code. A code works once; the client that has asked for it has five
        tries, and all others have three together.
        """
        answer: types.VerifyCodeResponse = await self._http.call(_VERIFY_CODE, request, options)
        return answer

    async def me(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[UserMeQuery],
    ) -> types.GetMeResponse:
        """
        Reads the caller, who may be an API key, and the workspaces that it is a member of, as
        `ListWorkspaces` does.
        """
        answer: types.GetMeResponse = await self._http.call(_ME, request, options)
        return answer

    async def logout(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.LogoutRequest],
    ) -> types.LogoutResponse:
        """
        Ends all sessions of the caller; `RevokeSession` ends one. Their tokens are refused within
        2 seconds.
        """
        answer: types.LogoutResponse = await self._http.call(_LOGOUT, request, options)
        return answer

    async def list_sessions(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[UserListSessionsQuery],
    ) -> types.ListSessionsResponse:
        """
        Lists the caller's sessions that have not expired, the newest first, at most 1,000. API
        keys have none.
        """
        answer: types.ListSessionsResponse = await self._http.call(_LIST_SESSIONS, request, options)
        return answer

    async def revoke_session(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RevokeSessionRequest],
    ) -> types.RevokeSessionResponse:
        """
        Ends one session of the caller, perhaps its own. Its token is refused within 2 seconds.
        """
        answer: types.RevokeSessionResponse = await self._http.call(
            _REVOKE_SESSION, request, options
        )
        return answer
