// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import type * as types from './types.ts';

export type UserMeQuery = Record<string, never>;

export type UserListSessionsQuery = Record<string, never>;

/** Signs users in. */
export class User {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Signs a configured root user in by a signature over the address and the time, for automation.
   *
   * A signature works once: a second sign-in within a second needs another timestamp.
   */
  rootSignin(
    request: InWorkspace<types.SignInRootRequest>,
    options?: RequestOptions,
  ): Promise<types.SignInRootResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/user.rootSignin' }, request, options);
  }

  /**
   * Mails a code of six digits, which is valid for 10 minutes, to a user, a root user or somebody
   * who is invited to a workspace. The answer is the same for all other addresses, which get no
   * mail. A new code replaces the last one that the same client has asked for. The mail goes through
   * the operator's server (`SYSTEM_SMTP_URL`); where that is not set, no code is sent. A client is
   * an IPv4 address or a /64 of IPv6.
   */
  signIn(
    request: InWorkspace<types.SignInRequest>,
    options?: RequestOptions,
  ): Promise<types.SignInResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/user.signIn' }, request, options);
  }

  /**
   * Opens a session with a code. A code works once; the client that has asked for it has five tries,
   * and all others have three together.
   */
  verifyCode(
    request: InWorkspace<types.VerifyCodeRequest>,
    options?: RequestOptions,
  ): Promise<types.VerifyCodeResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/user.verifyCode' }, request, options);
  }

  /**
   * Reads the caller, who may be an API key, and the workspaces that it is a member of, as
   * `ListWorkspaces` does.
   */
  me(
    request: InWorkspace<UserMeQuery> = {},
    options?: RequestOptions,
  ): Promise<types.GetMeResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/user.me' }, request, options);
  }

  /**
   * Ends all sessions of the caller; `RevokeSession` ends one. Their tokens are refused within 2
   * seconds.
   */
  logout(
    request: InWorkspace<types.LogoutRequest> = {},
    options?: RequestOptions,
  ): Promise<types.LogoutResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/user.logout' }, request, options);
  }

  /**
   * Lists the caller's sessions that have not expired, the newest first, at most 1,000. API keys
   * have none.
   */
  listSessions(
    request: InWorkspace<UserListSessionsQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListSessionsResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/user.listSessions' }, request, options);
  }

  /** Ends one session of the caller, perhaps its own. Its token is refused within 2 seconds. */
  revokeSession(
    request: InWorkspace<types.RevokeSessionRequest>,
    options?: RequestOptions,
  ): Promise<types.RevokeSessionResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/user.revokeSession' }, request, options);
  }
}
